/**
 * Forty secrets of fifteen kinds in one change: none that is found goes to another machine, into a file or to the screen.
 * The other machine has a name that is made up; it is reached through a proxy on 127.0.0.1, which records what it is sent.
 */
import { test } from "node:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { binary, bundle, findBun, findDeno, findNode } from "../scripts/build.ts";
import { FORMATS } from "../settings.ts";
import { allowMinutes, commitAll, makeRepository, root, withFolder, write } from "./support.ts";
import { answer, messages, octavo, prompt, withModel } from "./support_octavo.ts";
import { SecretMaker } from "./support_secrets.ts";
import { json, type RecordedRequest, type Reply, type TestServer, withServer } from "./support_server.ts";

await allowMinutes();

/** A secret in the change. */
interface Planted {
  kind: string;
  /** What must not be seen: a secret of several lines is several texts. */
  values: string[];
}

interface Change {
  planted: Planted[];
  before: Record<string, string>;
  after: Record<string, string>;
  title: string;
}

/** The kinds that no rule is certain of. */
const NOT_FOUND = ["password"];

/** A change with forty secrets: added, removed, around what is changed, in the title and in the name of a file. */
function change(): Change {
  const make = new SecretMaker(40);
  const planted: Planted[] = [];
  const plant = (kind: string, secret: string): string => {
    planted.push({ kind, values: [secret] });
    return secret;
  };
  const plantKey = (kind: string, lines = 8): string[] => {
    const key = make.privateKey(kind, lines);
    planted.push({ kind: "private key", values: key.slice(1, -2) });
    return key;
  };
  const github = (prefix: string) => plant("GitHub token", `${prefix}_${make.alnum(36)}`);
  const old = plantKey("EC", 4);
  const context = plant("Slack", `xoxb-${make.digits(11)}-${make.digits(12)}-${make.alnum(24)}`);
  const removed = plant("Stripe", `sk_live_${make.alnum(24)}`);
  const head = `// deploy\nconst slack = "${context}";\n`;
  const tail = "export function deploy(target: string) {\n  return send(slack, target);\n}\n";
  return {
    planted,
    title: `Deploy with ${github("ghp")}`,
    before: {
      "src/deploy.ts": `${head}const stripe = "${removed}";\n${tail}`,
      "keys/old.pem": `${old.join("\n")}\n`,
    },
    after: {
      "src/deploy.ts": `${head}const stripe = "${plant("Stripe", `rk_live_${make.alnum(30)}`)}";\n` +
        `const test = '${plant("Stripe", `sk_test_${make.alnum(24)}`)}';\n${tail}`,
      "keys/old.pem": "",
      [`src/${github("gho")}.ts`]: `export const app = "${github("ghs")}";\n` +
        `export const fine = "github_${"pat"}_${make.alnum(22)}_${make.alnum(59)}";\n`.replace(
          /github_pat_\w+/,
          (token) => plant("GitHub token", token),
        ),
      "src/aws.py": [
        `AWS_ACCESS_KEY_ID = "${plant("AWS key", `AKIA${make.upper(16)}`)}"`,
        `AWS_SECRET_ACCESS_KEY = "${plant("AWS key", make.base64(40))}"`,
        "# secretlint-disable",
        `session(aws_access_key_id='${plant("AWS key", `ASIA${make.upper(16)}`)}',`,
        `        aws_secret_access_key='${plant("AWS key", make.base64(40))}')`,
        `hf = "${plant("Hugging Face token", `hf_${make.chars("abcdefghijkXYZ", 34)}`)}"`,
        `hf2 = "${plant("Hugging Face token", `hf_${make.alnum(34)}`)}"`,
        `password = "${plant("password", "Tr0ub4dor-and-3")}"`,
        "",
      ].join("\n"),
      ".gitlab-ci.yml": [
        "deploy:",
        "  variables:",
        `    GL: ${plant("GitLab token", `glpat-${make.base64url(20)}`)}`,
        `    RUNNER: ${plant("GitLab token", `glrt-${make.base64url(19)}7`)}`,
        `    MAPS: ${plant("Google API key", `AIza${make.base64url(35)}`)}`,
        `  script: curl -k -d '{}' https://hooks.slack.com/services/${
          plant("Slack", `T${make.upper(8)}/B${make.upper(10)}/${make.alnum(24)}`)
        }`,
        `  after: notify ${plant("Slack", `xoxp-${make.digits(11)}-${make.digits(11)}-${make.hex(32)}`)}`,
        "",
      ].join("\n"),
      "web/config.json": JSON.stringify(
        {
          maps: plant("Google API key", `AIza${make.base64url(35)}`),
          other: plant("Google API key", `AIza${make.base64url(35)}`),
          token: plant("JSON web token", make.jwt()),
          private_key: `${plantKey("").join("\n")}\n`,
        },
        undefined,
        2,
      ),
      "web/session.http": `GET /\nAuthorization: Bearer ${plant("JSON web token", make.jwt())}\n`,
      "id_rsa": `${plantKey("OPENSSH").join("\n")}\n`,
      "src/signing.ts": `export const key =\n${
        plantKey("RSA").map((line) => `  "${line}\\n"`).join(" +\n")
      };\nconsole.log(key);\n`,
      ".npmrc": `//registry.npmjs.org/:_${"auth"}Token=${plant("npm token", `npm_${make.alnum(36)}`)}\n` +
        `//npm.acme.io/:_${"auth"}Token=${plant("npm token", `${make.hex(8)}-${make.hex(4)}-${make.hex(12)}`)}\n`,
      ".pypirc": `password = ${plant("PyPI token", `pypi-AgEIcHlwaS5vcmc${make.base64url(120)}`)}\n` +
        `password = ${plant("PyPI token", `pypi-AgENdGVzdC5weXBpLm9yZw${make.base64url(120)}`)}\n`,
      "docker-compose.yml": [
        `    DB: postgres://${plant("password in a URL", `app:${make.alnum(16)}`)}@db:5432/app`,
        `    CACHE: redis://${plant("password in a URL", `:${make.alnum(16)}`)}@cache:6379`,
        `    API: https://${plant("password in a URL", `bot:${make.alnum(16)}`)}@api.acme.io/v1`,
        "",
      ].join("\n"),
      ".env": [
        `SESSION_SECRET=${plant("variable", make.hex(64))}`,
        `export APP_TOKEN="${plant("variable", make.base64(44))}"`,
        `OPENAI=${plant("model key", `sk-${"proj"}-${make.base64url(74)}T3Blbk${"FJ"}${make.base64url(74)}`)}`,
        `CLAUDE=${plant("model key", `sk-${"ant"}-api03-${make.base64url(93)}AA`)}`,
        `DB_PASSWORD=${plant("password", "correcthorse")}`,
        "",
      ].join("\n"),
    },
  };
}

/** Those whose text is in one of the texts, as it is or as JSON writes it. */
function seen(planted: readonly Planted[], texts: readonly string[]): Planted[] {
  return planted.filter(({ values }) => values.some((value) => texts.some((text) => text.includes(value))));
}

/** All files below a folder. */
function filesBelow(dir: string): string[] {
  return readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** A model that says again what it was sent, cut anywhere: the worst there is. */
function echo(request: RecordedRequest): Reply {
  const all = messages(request).map(({ content }) => content).join("\n");
  return answer(...Array.from({ length: Math.ceil(all.length / 7) }, (_, at) => all.slice(at * 7, at * 7 + 7)));
}

interface Scene extends Change {
  cwd: string;
  home: string;
  /** Texts of the files that octavo has written so far. */
  saved: () => string[];
}

async function withSecrets(use: (scene: Scene) => Promise<void>): Promise<void> {
  await withFolder(async (home) => {
    const cwd = join(home, "project");
    const made = change();
    makeRepository(cwd, made.before);
    write(cwd, made.after);
    commitAll(cwd, made.title);
    const saved = () =>
      filesBelow(home).filter((file) => !file.startsWith(`${cwd}/`) && !/\/\.(?:gitconfig|cache)/.test(file))
        .map((file) => readFileSync(file, "utf8"));
    await use({ ...made, cwd, home, saved });
  });
}

/** The settings of a model on another machine, reached through the proxy. */
function foreign({ url }: TestServer): Record<string, string> {
  return {
    ...withModel("http://llm.acme.example"),
    OCTAVO_API_KEY: "key-of-the-test",
    HTTP_PROXY: url,
    http_proxy: url,
    HTTPS_PROXY: url,
    NO_PROXY: "",
  };
}

/** Every format, as a file beside stdout. */
const reports = (home: string) =>
  FORMATS.flatMap((format) => ["--report", `${format}:${join(home, `report.${format}`)}`]);

test("the change has forty secrets of fifteen kinds", () => {
  const { planted } = change();
  assertEquals([planted.length, new Set(planted.map(({ kind }) => kind)).size], [40, 15]);
});

test("no secret that is found goes to another machine, into any file or to the screen, in any format", async () => {
  await withSecrets(async ({ planted, cwd, home, saved }) => {
    await withServer(echo, async (proxy) => {
      const args = ["commit", "--max-diff-chars", "4000", "--debug", ...reports(home)];
      const { code, stdout, stderr } = await octavo(args, { cwd, env: foreign(proxy) });
      assertEquals(code, 0, stderr);
      assert(proxy.requests.length > 2, "several parts and a summing up");
      for (const { path } of proxy.requests) assertEquals(path, "http://llm.acme.example/v1/chat/completions");
      const sent = seen(planted, proxy.requests.map(({ body }) => JSON.stringify(JSON.parse(body))));
      assertEquals([...new Set(sent.map(({ kind }) => kind))], NOT_FOUND);
      const found = planted.filter((secret) => !sent.includes(secret));
      assert(found.length >= 36, `${found.length} of 40 found`);
      const files = saved();
      assert(files.length > FORMATS.length);
      assertEquals(seen(found, [stdout, stderr, ...files]), []);
      // What was replaced is said, with its place, and the summing up sees no more than the parts.
      assertMatch(stderr, /AWS access key id in src\/aws\.py:1: replaced by \[secret: aws-access-key-id\]/);
      assertStringIncludes(stderr, "GitHub token in the title: replaced by [secret: github-token]");
      assertStringIncludes(stderr, "Private key in keys/old.pem:1 (removed): replaced by [secret: private-key]");
      assertStringIncludes(proxy.requests.map(({ body }) => body).join(""), "[secret: private-key]");
      for (const format of FORMATS.filter((name) => name !== "markdown")) {
        const run = await octavo(["commit", "--format", format], { cwd, env: foreign(proxy) });
        assertEquals(run.code, 0, run.stderr);
        assertEquals(seen(found, [run.stdout, run.stderr]), [], format);
      }
      assertEquals(seen(found, [...saved(), ...proxy.requests.map(({ body }) => body)]), []);
    });
  });
});

test("a model on this machine gets them as they are; what is shown and kept has none", async () => {
  await withSecrets(async ({ planted, cwd, home, saved }) => {
    const found = planted.filter(({ kind }) => !NOT_FOUND.includes(kind));
    await withServer(echo, async (server) => {
      const env = withModel(server.url);
      const { code, stdout, stderr } = await octavo(["commit", ...reports(home)], { cwd, env });
      assertEquals(code, 0, stderr);
      assertEquals(seen(planted, server.requests.map(prompt)).length, 40);
      const styled = await octavo(["commit", "--color", "always"], { cwd, env });
      const events = await octavo(["commit", "--format", "jsonl"], { cwd, env });
      const texts = [stdout, stderr, styled.stdout, styled.stderr, events.stdout, events.stderr, ...saved()];
      assertEquals(seen(found, texts), []);
      assertStringIncludes(stdout, "[secret: github-token]");
    });
  });
});

test("--send-secrets and OCTAVO_SEND_SECRETS send them, and say so; no settings file can", async () => {
  await withSecrets(async ({ planted, cwd, home, saved }) => {
    const found = planted.filter(({ kind }) => !NOT_FOUND.includes(kind));
    await withServer(echo, async (proxy) => {
      const env = foreign(proxy);
      write(home, { ".config/octavo/config.json": '{"sendSecrets": true}' });
      write(cwd, { ".octavo.json": '{"sendSecrets": true}' });
      const file = await octavo(["commit"], { cwd, env });
      assertEquals(seen(found, proxy.requests.map(prompt)), []);
      assertStringIncludes(file.stderr, '"sendSecrets" in your settings file is unknown');
      const before = proxy.requests.length;
      const { code, stdout, stderr } = await octavo(["commit", "--send-secrets"], { cwd, env });
      assertEquals(code, 0, stderr);
      assertEquals(seen(planted, proxy.requests.slice(before).map(prompt)).length, 40);
      assertStringIncludes(stderr, "sent as it is (--send-secrets)");
      assertEquals(seen(found, [stdout, stderr, ...saved()]), []);
      const now = proxy.requests.length;
      await octavo(["commit"], { cwd, env: { ...env, OCTAVO_SEND_SECRETS: "1" } });
      assertEquals(seen(planted, proxy.requests.slice(now).map(prompt)).length, 40);
    });
  });
});

test("a review that broke off goes on without them: its parts are known again", async () => {
  await withSecrets(async ({ planted, cwd, saved }) => {
    const found = planted.filter(({ kind }) => !NOT_FOUND.includes(kind));
    const script = (request: RecordedRequest, index: number) =>
      index === 1 ? json({ error: { message: "no" } }, 400) : echo(request);
    await withServer(script, async (proxy) => {
      const env = foreign(proxy);
      const broken = await octavo(["commit", "--max-diff-chars", "4000"], { cwd, env });
      assertEquals(broken.code, 3);
      assertEquals(proxy.requests.length, 2);
      const resumed = await octavo(["resume"], { cwd, env });
      assertEquals(resumed.code, 0, resumed.stderr);
      assert(proxy.requests.length > 4);
      const texts = [broken.stdout, broken.stderr, resumed.stdout, resumed.stderr];
      assertEquals(seen(found, [...texts, ...saved(), ...proxy.requests.map(({ body }) => body)]), []);
    });
  });
});

test("--plan lists them and asks nobody; the built-in checks find them and repeat none", async () => {
  await withSecrets(async ({ planted, cwd }) => {
    const found = planted.filter(({ kind }) => !NOT_FOUND.includes(kind));
    for (const format of ["markdown", "json", "jsonl"]) {
      const plan = await octavo(["commit", "--plan", "--format", format], { cwd });
      assertEquals(seen(found, [plan.stdout, plan.stderr]), []);
      if (format !== "markdown") continue;
      const list = plan.stdout.slice(plan.stdout.indexOf("## Secrets"));
      assertStringIncludes(list, "- src/aws.py:2: AWS secret access key\n");
      assertStringIncludes(list, "- src/deploy.ts:2: Slack token\n");
      assertStringIncludes(list, "- src/deploy.ts:3 (removed): Stripe key\n");
      assertStringIncludes(list, "- keys/old.pem:1 (removed): Private key\n");
    }
    const checks = await octavo(["commit", "--model", "builtin", "--format", "json", "--fail-on", "bug"], { cwd });
    assertEquals(checks.code, 1);
    assertEquals(seen(found, [checks.stdout, checks.stderr]), []);
    const findings: { path: string; rule: string; line: number }[] = JSON.parse(checks.stdout).findings;
    const rulesOf = (path: string) => findings.filter((finding) => finding.path === path).map(({ rule }) => rule);
    assertEquals(rulesOf("id_rsa"), ["key-file", "private-key"]);
    assertEquals(rulesOf("src/deploy.ts"), ["stripe-key", "stripe-key"]); // neither what is removed nor what was there
    assert(!findings.some(({ path }) => path === "keys/old.pem"));
  });
});

test("a question, what is attached and standard input go to another machine without secrets, and are kept without", async () => {
  await withSecrets(async ({ planted, cwd, saved }) => {
    const found = planted.filter(({ kind }) => !NOT_FOUND.includes(kind));
    const [token] = planted.find(({ kind }) => kind === "GitLab token")!.values;
    const input = filesBelow(cwd).filter((file) => !file.includes("/.git/")).map((file) => readFileSync(file, "utf8"))
      .map((text) => text.split("\n").map((line) => `+${line}`).join("\n")).join("\n");
    const args = ["ask", `Is ${token} still valid?`, "@id_rsa", "@src/aws.py:4-5"];
    await withServer(echo, async (server) => {
      await octavo(["commit"], { cwd, env: withModel(server.url) });
      const local = await octavo(args, { cwd, env: withModel(server.url), input });
      assertEquals(local.code, 0, local.stderr);
      const kinds = new Set(planted.map(({ kind }) => kind));
      assertEquals(
        new Set(seen(planted, messages(server.requests.at(-1)!).map(({ content }) => content)).map(({ kind }) => kind)),
        kinds,
      );
      assertEquals(seen(found, [local.stdout, local.stderr, ...saved()]), []);
      assertStringIncludes(local.stdout, "[secret: private-key]");
    });
    await withServer(echo, async (proxy) => {
      const run = await octavo(args, { cwd, env: foreign(proxy), input });
      assertEquals(run.code, 0, run.stderr);
      const sent = proxy.requests.map(({ body }) => body);
      assertEquals(seen(found, [...sent, run.stdout, run.stderr, ...saved()]), []);
      assertStringIncludes(run.stderr, "GitLab token in the question:1: replaced by [secret: gitlab-token]");
      assertStringIncludes(run.stderr, "AWS access key id in src/aws.py:4: replaced by [secret: aws-access-key-id]");
      const before = proxy.requests.length;
      await octavo([...args, "--send-secrets"], { cwd, env: foreign(proxy), input });
      assertStringIncludes(JSON.stringify(messages(proxy.requests[before]!)), token!);
      assertEquals(seen(found, saved()), []);
    });
  });
});

test("an error in which a provider quotes what it was sent is shown and kept without secrets", async () => {
  await withSecrets(async ({ planted, cwd, saved }) => {
    const found = planted.filter(({ kind }) => !NOT_FOUND.includes(kind));
    const [token] = planted.find(({ kind }) => kind === "GitLab token")!.values;
    const refuse = () => json({ error: { message: `cannot read ${token}` } }, 400);
    await withServer(echo, async (server) => {
      await octavo(["commit"], { cwd, env: withModel(server.url) }); // something to ask about
    });
    await withServer(refuse, async (server) => {
      const asked = await octavo(["ask", "--debug", `Is ${token} valid?`], { cwd, env: withModel(server.url) });
      assertEquals(asked.code, 3);
      assertStringIncludes(asked.stderr, "cannot read [secret: gitlab-token]");
      assertEquals(seen(found, [asked.stdout, asked.stderr]), []);
      const env = withModel(server.url);
      const args = ["commit", "--debug", "--format", "jsonl"];
      const { code, stdout, stderr } = await octavo(args, { cwd, env });
      assertEquals(code, 3);
      assertStringIncludes(stdout, "cannot read [secret: gitlab-token]");
      assertEquals(seen(found, [stdout, stderr, ...saved()]), []);
    });
  });
});

test("secrets are found by the binary, by the bundle in node, and from source in deno and bun", async () => {
  const make = new SecretMaker(3);
  const source = join(root, "mod.ts");
  const config = join(root, "deno.json");
  const programs = [
    [await binary()],
    [await findNode(), await bundle()],
    [await findDeno(), "run", "-A", "--config", config, source],
    [await findBun(), "--no-env-file", source],
  ];
  await withFolder(async (home) => {
    const cwd = join(home, "project");
    makeRepository(cwd, { "a.ts": "1\n" });
    write(cwd, {
      "a.ts": `// secretlint-disable\nconst a = "npm_${make.alnum(36)}";\nconst b = "AIza${make.base64url(35)}";\n`,
    });
    for (const program of programs) {
      const env = { DENO_DIR: process.env.DENO_DIR ?? join(process.env.HOME ?? "", ".cache/deno") };
      const run = await octavo(["--model", "builtin", "--format", "json"], { cwd, program, env });
      assertEquals(run.code, 0, run.stderr);
      const findings: { rule: string; line: number }[] = JSON.parse(run.stdout).findings;
      assertEquals(findings.map(({ rule, line }) => [rule, line]), [["npm-token", 2], ["google-api-key", 3]]);
    }
  });
});
