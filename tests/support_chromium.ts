/** Shows pages in headless Chromium and gives what a probe sees in them. */
import { execFile, spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { withFolder } from "./support.ts";

const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--hide-scrollbars",
];

/** Why there is no Chromium to run; with `OCTAVO_REQUIRE_CHROMIUM=1` it is thrown. */
export function missingChromium(): string | undefined {
  if (program() !== undefined) return undefined;
  if (process.env.OCTAVO_REQUIRE_CHROMIUM === "1") {
    throw new Error("Chromium is missing, and OCTAVO_REQUIRE_CHROMIUM=1");
  }
  return "Chromium is missing";
}

let found: string | undefined | null = null;

function program(): string | undefined {
  if (found === null) {
    found = ["chromium", "chromium-browser", "google-chrome"].find((name) =>
      spawnSync(name, ["--version"]).status === 0
    );
  }
  return found;
}

/** What is seen of a page. */
export interface Seen {
  /** Width of all that is in it, in pixels. */
  scrollWidth: number;
  /** Width of what shows it, in pixels. */
  clientWidth: number;
  /** Elements that reach beyond the page, or into a neighbour. */
  misplaced: string[];
  /** Elements that run or load something. */
  active: string[];
  /** Colour of the page. */
  background: string;
  /** Calls of `alert` in it. */
  alerts: number;
  /** Elements of each name. */
  elements: Record<string, number>;
}

/** Runs in the page around the one that is looked at. */
const PROBE = `
function probe(frame) {
  const page = frame.contentDocument, root = page.documentElement, width = frame.contentWindow.innerWidth;
  const name = (element) => element.tagName.toLowerCase() + "." + element.className + ": " + element.textContent.trim().slice(0, 40);
  const misplaced = [], active = [], elements = {};
  const boxOf = (element) => element.getBoundingClientRect();
  for (const element of page.body.querySelectorAll("*")) {
    const tag = element.tagName.toLowerCase();
    elements[tag] = (elements[tag] ?? 0) + 1;
    if (["script", "img", "iframe", "object", "embed", "link", "form", "svg", "base"].includes(tag)) active.push(name(element));
    for (const { name: attribute, value } of element.attributes) {
      if (/^on|^style$|^src/.test(attribute) || (attribute === "href" && !value.startsWith("#"))) active.push(attribute + "=" + value);
    }
    const box = boxOf(element);
    if (box.width > 0 && (box.right > width + 0.5 || box.left < -0.5)) misplaced.push("beyond: " + name(element));
    const next = element.nextElementSibling;
    if (!next || getComputedStyle(element).display.startsWith("inline")) continue;
    const other = boxOf(next);
    if (box.width === 0 || other.width === 0 || getComputedStyle(next).display.startsWith("inline")) continue;
    const across = Math.min(box.right, other.right) - Math.max(box.left, other.left);
    const down = Math.min(box.bottom, other.bottom) - Math.max(box.top, other.top);
    if (across > 1 && down > 1) misplaced.push("overlap: " + name(element));
  }
  return {
    scrollWidth: root.scrollWidth, clientWidth: root.clientWidth, misplaced, active, alerts, elements,
    background: frame.contentWindow.getComputedStyle(page.body).backgroundColor,
  };
}
`;

/** Shows a page at some widths, in pixels. */
export async function look(html: string, widths: readonly number[], scheme: "light" | "dark"): Promise<Seen[]> {
  return await withFolder(async (dir) => {
    const frames = widths.map((width) =>
      `<iframe style="border:0;width:${width}px;height:900px" srcdoc="${
        html.replaceAll("&", "&amp;").replaceAll('"', "&quot;")
      }"></iframe>`
    );
    const page = `<!DOCTYPE html><meta charset="utf-8"><body>${frames.join("")}<pre id="seen"></pre><script>
let alerts = 0;
window.alert = () => alerts++;
${PROBE}
addEventListener("load", () => {
  const seen = [...document.querySelectorAll("iframe")].map((frame) => probe(frame));
  document.getElementById("seen").textContent = btoa(unescape(encodeURIComponent(JSON.stringify(seen))));
});
</script>`;
    const file = join(dir, "page.html");
    writeFileSync(file, page);
    const dom = await run([
      ...FLAGS,
      `--user-data-dir=${join(dir, "profile")}`,
      `--blink-settings=preferredColorScheme=${scheme === "dark" ? 0 : 1}`,
      "--window-size=1400,1000",
      "--virtual-time-budget=10000",
      "--dump-dom",
      pathToFileURL(file).href,
    ]);
    const seen = /<pre id="seen">([^<]+)<\/pre>/.exec(dom)?.[1];
    if (seen === undefined) throw new Error(`Chromium showed no page: ${dom.slice(-500)}`);
    return JSON.parse(Buffer.from(seen, "base64").toString("utf8")) as Seen[];
  });
}

/** Pixels of a page as PNG. */
export async function screenshot(html: string, width: number, height: number): Promise<Uint8Array> {
  return await withFolder(async (dir) => {
    const [file, image] = [join(dir, "page.html"), join(dir, "page.png")];
    writeFileSync(file, html);
    await run([
      ...FLAGS,
      `--user-data-dir=${join(dir, "profile")}`,
      `--window-size=${width},${height}`,
      `--screenshot=${image}`,
      pathToFileURL(file).href,
    ]);
    const bytes = existsSync(image) ? readFileSync(image) : new Uint8Array();
    rmSync(join(dir, "profile"), { recursive: true, force: true, maxRetries: 5 });
    return bytes;
  });
}

function run(args: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(program()!, args, { maxBuffer: 1 << 28, timeout: 120_000 }, (error, stdout) => {
      if (error) reject(error);
      else resolve(stdout);
    });
  });
}
