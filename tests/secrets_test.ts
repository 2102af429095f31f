import { test } from "node:test";
import { assert, assertEquals, assertNotMatch, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import { rules } from "@secretlint/secretlint-rule-preset-recommend";
import { AddedSecrets } from "../added_secrets.ts";
import { parseUnifiedDiff, planReview } from "../diff.ts";
import { readFindings } from "../findings.ts";
import { planSource } from "../plan.ts";
import { redactPlan } from "../redacted_plan.ts";
import { Redactor } from "../secret_mask.ts";
import { OWN_RULES, PRESET_RULES, SECRET_RULES } from "../secret_rules.ts";
import { findSecrets, hasHint, redact } from "../secrets.ts";
import type { Source } from "../source.ts";
import { samples, SecretMaker } from "./support_secrets.ts";

const all = samples();
const make = new SecretMaker(7);
const TOKEN = `ghp_${make.alnum(36)}`;

/** A patch that adds a file. */
function added(path: string, lines: readonly string[]): string {
  return `diff --git a/${path} b/${path}\nnew file mode 100644\n--- /dev/null\n+++ b/${path}\n` +
    `@@ -0,0 +1,${lines.length} @@\n${lines.map((line) => `+${line}\n`).join("")}`;
}

test("each kind of secret is found by its rule, once, and replaced", async () => {
  for (const { rule, text, secret } of all) {
    const found = await findSecrets(text);
    assertEquals(found.map(({ id }) => id), [rule], text);
    const redacted = await redact(text);
    assert(!redacted.text.includes(secret), redacted.text);
    assertStringIncludes(redacted.text, `[secret: ${rule}]`);
    assertEquals(redacted.text.split("\n").length, text.split("\n").length);
  }
});

test("every rule has a sample", () => {
  const found = new Set(all.map(({ rule }) => rule));
  const others = SECRET_RULES.map(({ id }) => id).filter((id) => !found.has(id));
  assertEquals(others, ["gcp-service-account"]); // a JSON file with a private key in it, found as that
});

/** Messages of the preset that octavo has no use for: which files a text is from decides, or nothing secret is found. */
const UNUSED = ["aws/AWSAccountID", "gcp/PrivateKeyJSON", "gcp/PrivateKeyP12", "npm/Npmrc_authToken"];

test("the hint lets through whatever a rule finds something in: each rule's own samples, each by itself", async () => {
  for (const { text } of all) assert(hasHint(text), text);
  const told = new Set<string>();
  for (const rule of rules) {
    const name = rule.meta.id.replace(/^.*-rule-/, "");
    if (name === "filter-comments") continue;
    assert(PRESET_RULES[name] !== undefined, `${name} has no name`);
    for (const { text } of all) {
      const context = {
        sharedOptions: {},
        createTranslator: () => (messageId: string) => ({ message: "", messageId }),
        report: ({ message }: { message: { messageId: string } }) => told.add(`${name}/${message.messageId}`),
        ignore: () => {},
      };
      await rule.create(context, { enableIDScanRule: true }).file?.({
        content: text,
        filePath: "",
        ext: "",
        contentType: "text",
      });
    }
  }
  const messages = rules.filter(({ meta }) => !meta.id.endsWith("filter-comments")).flatMap(({ meta, messages }) =>
    Object.keys(messages ?? {}).map((id) => `${meta.id.replace(/^.*-rule-/, "")}/${id}`)
  );
  assertEquals(messages.filter((id) => !told.has(id)).sort(), UNUSED);
  for (const { id, pattern, check } of OWN_RULES) {
    const matches = all.flatMap(({ text }) => [...text.matchAll(pattern)]);
    assert(matches.some((match) => check?.(match) ?? true), `${id} (${pattern.source}) has no sample`);
  }
});

test("what only looks like a secret is left alone", async () => {
  const hex = make.hex(40);
  const harmless = [
    `token: "ghp_${"x".repeat(36)}"`,
    `token: "ghp_${make.alnum(35)}"`,
    `key = "AKIAIOSFODNN7EXAMPLE"`,
    `key = "${"wJalrXUtnFEMI/K7MDENG"}/bPxRfiCYEXAMPLEKEY"`,
    "account = 123456789012",
    'password = "hunter2"',
    "DB_PASSWORD=changeme",
    "const url = `https://${user}:${password}@acme.io/`;",
    'url = "postgres://postgres:postgres@localhost:5432/app"',
    'url = "https://user:password@example.com/"',
    "git clone ssh://git@acme.io:2222/x/y.git",
    "see http://localhost:8080/@scope/name",
    "const PEM = /-----BEGIN (RSA )?PRIVATE KEY-----/;",
    `-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----`,
    `-----BEGIN CERTIFICATE-----\nMIIE${make.base64(60)}\n${make.base64(64)}\n-----END CERTIFICATE-----`,
    `-----BEGIN PUBLIC KEY-----\nMIIB${make.base64(60)}\n-----END PUBLIC KEY-----`,
    `const map = "eyJ2ZXJzaW9uIjozLCJmaWxlIjoiIn0.${make.base64url(20)}.${make.base64url(20)}";`,
    `uses: actions/checkout@${hex}`,
    `integrity: sha512-${make.base64(86)}==`,
    `SECRET_HASH=${make.hex(64)}`,
    `TOKEN_URL=https://id.acme.io/realms/Master1/protocol/openid-connect/token`,
    "PASSWORD_RESET_TOKEN=thisIsTheNameOfTheTemplate2023ForResets01",
    "risk-assessment task-runner desk-lamp",
    "npm_config_registry_and_other_variables_x = 1",
    "vkCmdPipelineBarrier(vci_createPipelineLayoutAndMore_);",
    "PublicKey = " + make.base64(43) + "=",
    `"_auth": "\${NPM_TOKEN}"`,
    "//registry.npmjs.org/:_authToken=${NPM_TOKEN}",
    `"dp.st.title"`,
    "Authorization: Basic authentication is used",
  ];
  for (const text of harmless) assertEquals(await findSecrets(text), [], text);
});

test("nothing in a text switches a rule off", async () => {
  const lines = [
    "// secretlint-disable",
    "/* secretlint-disable @secretlint/secretlint-rule-github */",
    `const a = "${TOKEN}"; // secretlint-disable-line`,
    "# secretlint-disable-next-line",
    `b = "${TOKEN}"`,
    "octavo-ignore github-token, gitleaks:allow, nosec",
    `c = "${TOKEN}"`,
  ];
  assertEquals((await redact(lines.join("\n"))).secrets.map(({ line }) => line), [3, 5, 7]);
});

test("a scan reads no file and no environment, whatever a text says", async () => {
  assertEquals(await findSecrets('{"private_key_id": "x", "private_key": "-----BEGIN PRIVATE KEY-----"}'), []);
});

/** Texts with one private key each, by name: the text, and how many of its lines are replaced. */
function keys(): [name: string, text: string, lines: number][] {
  const key = make.privateKey();
  const [begin, ...rest] = key;
  const body = key.slice(1, -1);
  return [
    ["on lines of its own", key.join("\n"), key.length],
    ["with CRLF", key.join("\r\n"), key.length],
    ["indented in YAML", `key: |\n${key.map((line) => `  ${line}`).join("\n")}\nnext: 1`, key.length],
    [
      "encrypted, with headers",
      [begin, "Proc-Type: 4,ENCRYPTED", `DEK-Info: AES-128-CBC,${make.hex(32)}`, "", ...rest]
        .join("\n"),
      key.length + 2,
    ],
    ["in JSON", `{"private_key": "${key.join("\\n")}\\n", "a": 1}`, 1],
    ["in an environment file", `KEY="${key.join("\\n")}"`, 1],
    ["as strings that are joined", key.map((line) => `  "${line}\\n" +`).join("\n"), key.length],
    ["as a list of strings", key.map((line) => `  '${line}',`).join("\n"), key.length],
    ["in a comment", key.map((line) => ` * ${line}`).join("\n"), key.length],
    ["in quoted mail", key.map((line) => `> ${line}`).join("\n"), key.length],
    ["cut before its end", `x\n${key.slice(0, 4).join("\n")}\nconst next = 1;`, 4],
    ["cut after its beginning", `${key.slice(3).join("\n")}\nx`, key.length - 3],
    ["without its last line", `${key.slice(0, -1).join("\n")}`, key.length - 1],
    [
      "OpenPGP",
      [
        "-----BEGIN PGP PRIVATE KEY BLOCK-----",
        "Version: GnuPG v2",
        "",
        ...body,
        "=aB3x",
        "-----END PGP PRIVATE KEY BLOCK-----",
      ].join("\n"),
      body.length + 4,
    ],
    [
      "SSH2",
      [
        "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----",
        'Comment: "x"',
        ...body,
        "---- END SSH2 ENCRYPTED PRIVATE KEY ----",
      ]
        .join("\n"),
      body.length + 3,
    ],
    [
      "PuTTY",
      [
        "PuTTY-User-Key-File-3: ssh-ed25519",
        "Encryption: none",
        "Comment: me",
        "Public-Lines: 1",
        make.base64(64),
        "Private-Lines: 1",
        make.base64(48),
        `Private-MAC: ${make.hex(64)}`,
      ].join("\n"),
      8,
    ],
    [
      "OpenVPN",
      [
        "-----BEGIN OpenVPN Static key V1-----",
        ...Array.from({ length: 16 }, () => make.hex(32)),
        "-----END OpenVPN Static key V1-----",
      ].join("\n"),
      18,
    ],
  ];
}

test("a private key is replaced line by line, however it is written, and as part of a diff", async () => {
  for (const [name, text, lines] of keys()) {
    const secrets = text.match(/[A-Za-z0-9+/]{32,}/g)!;
    const count = (redacted: string) => redacted.split("[secret: private-key]").length - 1;
    const plain = await redact(text);
    assertEquals(plain.text.split("\n").length, text.split("\n").length, name);
    for (const secret of secrets) assert(!plain.text.includes(secret), `${name}:\n${plain.text}`);
    assertEquals(count(plain.text), lines, `${name}:\n${plain.text}`);
    assertEquals(plain.secrets.length, 1, name);
    for (const mark of ["+", "-", " "]) {
      const diff = `@@ -1,9 +1,9 @@\n${text.split("\n").map((line) => `${mark}${line}`).join("\n")}`;
      for (const kind of ["diff", "text"] as const) {
        const redacted = await redact(diff, kind);
        for (const secret of secrets) assert(!redacted.text.includes(secret), `${name} ${mark}:\n${redacted.text}`);
        const marks = redacted.text.split("\n").slice(1).filter((line) => !line.startsWith(mark));
        if (kind === "diff") assertEquals(marks, [], name);
      }
    }
  }
});

test("two keys of which one takes the place of the other are both replaced, mixed as they are in a diff", async () => {
  const [old, now] = [make.privateKey(), make.privateKey()];
  const body = old.slice(1, -1).flatMap((line, at) => [`-${line}`, `+${now[at + 1]}`]);
  const diff = [
    "@@ -1,9 +1,9 @@",
    ` ${old[0]}`,
    ...body,
    ` ${old[old.length - 1]}`,
    "\\ No newline at end of file",
  ].join("\n");
  const { text } = await redact(diff, "diff");
  for (const line of [...old.slice(1, -1), ...now.slice(1, -1)]) assert(!text.includes(line), text);
  assertEquals(text.split("\n").map((line) => line[0]), diff.split("\n").map((line) => line[0]));
});

test("in a diff every line keeps its marks, also in a combined one", async () => {
  const diff = [
    "diff --cc a.ts",
    "@@@ -1,2 -1,2 +1,3 @@@ fn()",
    `++const a = "${TOKEN}";`,
    `- const b = "${TOKEN}";`,
    `  c("${TOKEN}")`,
    "diff --git a/b.ts b/b.ts",
    "@@ -1 +1 @@",
    `+-x("${TOKEN}")`,
  ];
  const expected = diff.map((line) => line.replace(TOKEN, "[secret: github-token]"));
  assertEquals((await redact(diff.join("\n"), "diff")).text.split("\n"), expected);
});

test("what has been replaced is left alone", async () => {
  for (const { text } of all) {
    const once = await redact(text);
    assertEquals(await redact(once.text), { text: once.text, secrets: [] });
  }
});

test("of a URL only name and password are replaced", async () => {
  const { text } = await redact(`connect("postgresql://app:${make.alnum(12)}@db.acme.io:5432/prod?ssl=1", x);`);
  assertEquals(text, 'connect("postgresql://[secret: url-password]@db.acme.io:5432/prod?ssl=1", x);');
});

test("a plan without secrets has the same lines at the same places, and findings are tied to them", async () => {
  const key = make.privateKey();
  const patch = added("src/a.ts", ["first", `const token = "${TOKEN}";`, ...key, "const last = compute(first);"]) +
    `diff --git a/b.ts b/b.ts\n--- a/b.ts\n+++ b/b.ts\n@@ -10,3 +10,3 @@ use("${TOKEN}")\n a\n-remove("${TOKEN}");\n+keep();\n b\n` +
    `@@ -90,2 +90,3 @@\n x\n+send("${TOKEN}", recipient);\n y\n`;
  const plan = planReview(parseUnifiedDiff(patch).files);
  const redacted = await redactPlan(plan, new Redactor());
  const [part] = redacted.plan.parts;
  assert(!part!.text.includes(TOKEN) && !part!.text.includes(key[2]!));
  assertEquals(part!.chars, part!.text.length);
  assertEquals(
    redacted.secrets.map(({ id, path, line, side }) => [id, path, line, side]),
    [
      ["github-token", "src/a.ts", 2, "new"],
      ["private-key", "src/a.ts", 3, "new"],
      ["github-token", "b.ts", undefined, undefined],
      ["github-token", "b.ts", 11, "old"],
      ["github-token", "b.ts", 91, "new"],
    ],
  );
  for (const [index, file] of part!.files.entries()) {
    const before = plan.parts[0]!.files[index]!;
    assertEquals(
      file.hunks.map(({ start, end }) => file.text.slice(start, end).split("\n").length),
      before.hunks.map(({ start, end }) => before.text.slice(start, end).split("\n").length),
    );
    for (const { start } of file.hunks) assert(file.text.startsWith("@@ -", start));
  }
  const review = [
    "## Issues",
    "",
    "- 🔴 `src/a.ts:2` — the token is in the source",
    '  `const token = "[secret: github-token]";`',
    "  Anybody can use it.",
    `- 🔴 \`src/a.ts:${3 + key.length}\` — last is computed from the first alone`,
    "  `const last = compute(first);`",
    "  With two items the second is lost.",
    "- 🟠 `b.ts:91` — the recipient is not checked",
    '  `send("[secret: github-token]", recipient);`',
    "  An unknown recipient gets the token.",
  ].join("\n");
  const findings = readFindings(review, { number: 1, files: part!.files });
  assertEquals(
    findings.map(({ path, line, anchor, grounded }) => [path, line, anchor, grounded]),
    [
      ["src/a.ts", 2, "quote", true],
      ["src/a.ts", 3 + key.length, "quote", true],
      ["b.ts", 91, "quote", true],
    ],
  );
});

test("secrets in the name of a file are replaced in the plan", async () => {
  const plan = planReview(parseUnifiedDiff(added(`keys/${TOKEN}.txt`, ["x"])).files);
  const redacted = await redactPlan(plan, new Redactor());
  assertEquals(JSON.stringify(redacted.plan).includes(TOKEN), false);
  assertEquals(redacted.plan.files[0]!.path, "keys/[secret: github-token].txt");
});

test("a known secret is replaced wherever a stream is cut, and nothing else is held back for long", () => {
  const known = [TOKEN, "abcabd", "abcabdabe", "bdabca"];
  const text = fc.array(fc.oneof(fc.constantFrom(...known, "abc", "ab", "ghp_"), fc.string({ maxLength: 4 })))
    .map((pieces) => pieces.join(""));
  fc.assert(fc.property(text, fc.array(fc.nat(12)), (whole, cuts) => {
    const redactor = new Redactor();
    redactor.learn(known.map((value) => ({ id: "x", title: "X", line: 1, values: [value] })));
    const stream = redactor.stream();
    let [out, at] = ["", 0];
    for (const cut of cuts) {
      out += stream.push(whole.slice(at, at + cut));
      at += cut;
      const due = Math.min(at, whole.length) - TOKEN.length;
      assert(out.length >= due / TOKEN.length, "more is held back than may be a secret");
    }
    out += stream.push(whole.slice(at)) + stream.end();
    assertEquals(out, redactor.mask(whole));
    for (const value of known) assert(!out.includes(value));
  }));
});

test("where no secret is known, a stream passes on at once", () => {
  const stream = new Redactor().stream();
  assertEquals(["g", "hp_", "x"].map((piece) => stream.push(piece)), ["g", "hp_", "x"]);
});

test("the lines of a private key are known again one by one", async () => {
  const key = make.privateKey();
  const redactor = new Redactor();
  await redactor.text(key.join("\n"));
  assertEquals(redactor.mask(`it has "${key[3]}" and -----BEGIN`), 'it has "[secret: private-key]" and -----BEGIN');
});

test("data is copied only where there is something to replace", async () => {
  const redactor = new Redactor();
  const clean = { a: ["x", { b: 1, c: null }] };
  assert(await redactor.deep(clean) === clean);
  assertEquals(await redactor.deep({ a: [`say ${TOKEN}`, { b: 1, c: null, d: undefined }] }), {
    a: ["say [secret: github-token]", { b: 1, c: null, d: undefined }],
  });
});

async function findingsOf(path: string, lines: readonly string[]) {
  const secrets = new AddedSecrets();
  secrets.see({ path, line: 5, text: lines.map((line) => `${line}\n`).join(""), columns: 1 });
  return (await secrets.end()).map(({ rule, line }) => [rule, line]);
}

test("only what a change adds is a finding, at its line", async () => {
  const key = make.privateKey();
  assertEquals(
    await findingsOf("a.ts", [
      ` a("${TOKEN}")`,
      `-b("${TOKEN}")`,
      `+c("${TOKEN}")`,
      "\\ No newline at end of file",
      ` ${key[0]}`,
      ...key.slice(1, 3).map((line) => `-${line}`),
      ...key.slice(1).map((line) => `+${line}`),
    ]),
    [["github-token", 6], ["private-key", 8]],
  );
  assertEquals(await findingsOf("tests/a_test.ts", [`+c("${TOKEN}")`]), []);
});

test("what may be an example is replaced, and is no finding", async () => {
  const example = 'fetch("https://bob:builder99@api.acme.io/")'.replace("builder99", "changeme99");
  assertEquals(await findingsOf("a.ts", [`+${example}`]), []);
  assertStringIncludes((await redact(example)).text, "[secret: url-password]");
});

function source(patch: string, size: number): Source {
  const bytes = new TextEncoder().encode(patch);
  return {
    kind: "diff",
    title: "T",
    description: "",
    chunks: async function* () {
      for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
    }(),
    notices: [],
    attributes: Promise.resolve(new Map()),
    hidden: Promise.resolve(new Set()),
    again: { kind: "diff", file: "-" },
    settings: Promise.resolve(undefined),
    lockKey: "",
  };
}

test("secrets and checks are at their lines in a hunk of any size, and behind a line of any length", async () => {
  const lines: string[] = Array.from({ length: 30_000 }, (_, n) => `const variable${n} = ${n} + 1;`);
  lines[7] = `a("${TOKEN}");`;
  lines[12_345] = `b("${TOKEN}");`;
  lines[20_000] = "x".repeat(700_000);
  lines[20_001] = `c("${TOKEN}");`;
  lines[29_999] = "debugger;";
  for (const size of [65_536, 1_000_003]) {
    const { checks } = await planSource(source(added("a.ts", lines), size), { maxDiffChars: 2_000, checksOnly: true });
    assertEquals(checks.map(({ rule, line }) => [rule, line]), [
      ["github-token", 8],
      ["github-token", 12_346],
      ["github-token", 20_002],
      ["debugger", 30_000],
    ]);
  }
});

test("a private key that the checks find as well is one finding", async () => {
  const { checks } = await planSource(source(added("a.ts", ["", ...make.privateKey()]), 1_000), {
    maxDiffChars: 2_000,
  });
  assertEquals(checks.map(({ rule, line, quote }) => [rule, line, quote]), [["private-key", 2, undefined]]);
});

test("what the checks quote has no secret in it", async () => {
  const line = `curl -k https://bob:${make.alnum(12)}@api.acme.io/x`;
  const { checks } = await planSource(source(added("a.sh", [line]), 1_000), { maxDiffChars: 2_000 });
  assert(checks.some(({ quote }) => quote === "curl -k https://[secret: url-password]@api.acme.io/x"));
  assertNotMatch(JSON.stringify(checks), /bob:/);
});

test("hostile text takes no time that grows with its square", async () => {
  const hostile = [
    "eyJ-".repeat(50_000),
    `eyJhbGciOiJIUzI1NiJ9.${"a.".repeat(100_000)}`,
    "SG.a".repeat(50_000),
    "https://a:b".repeat(20_000),
    "x://:".repeat(40_000),
    "-----BEGIN PRIVATE KEY-----\n".repeat(8_000),
    "-----END PRIVATE KEY-----\n".repeat(8_000),
    `-----BEGIN PRIVATE KEY-----\n${`${"A".repeat(64)}\n`.repeat(3_000)}`,
    `PRIVATE KEY${"\n+ + + + + + +".repeat(15_000)}`,
    "A_SECRET_".repeat(25_000),
    `PRIVATE KEY\n${`${" ".repeat(40)}X_TOKEN=a\n`.repeat(4_000)}`,
    "xoxb-1-".repeat(30_000),
    `${TOKEN} `.repeat(5_000),
    `ghs_1_${"a".repeat(190_000)}`,
  ];
  for (const text of hostile) {
    const started = performance.now();
    await redact(text, "diff");
    const milliseconds = performance.now() - started;
    assert(milliseconds < 10_000, `${text.slice(0, 40)}: ${Math.round(milliseconds)} ms`);
  }
});
