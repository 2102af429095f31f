import { assert, assertEquals } from "@std/assert";
import { describe, test } from "node:test";
import {
  checkFile,
  type CheckOptions,
  checkPatch,
  FileChecker,
  MAX_FINDINGS_OF_RULE,
  PatchChecker,
  rules,
} from "../checks.ts";
import { type FileDiff, parseUnifiedDiff } from "../diff.ts";
import type { Finding } from "../finding.ts";

/** A patch of one file. Lines start with "+", "-" or " ". */
function patchOf(path: string, lines: readonly string[], header: readonly string[] = []): FileDiff {
  const count = (marks: string) => lines.filter((line) => marks.includes(line[0] ?? " ")).length;
  const [removed, added] = [count(" -"), count(" +")];
  const text = [
    `diff --git a/${path} b/${path}`,
    ...header,
    ...(lines.length === 0 ? [] : [
      header.some((line) => line.startsWith("new file")) ? "--- /dev/null" : `--- a/${path}`,
      `+++ b/${path}`,
      `@@ -${removed === 0 ? 0 : 10},${removed} +10,${added} @@`,
      ...lines,
    ]),
    "",
  ].join("\n");
  const { files, problems } = parseUnifiedDiff(text);
  assertEquals(problems, []);
  return files[0]!;
}

/** A case: where, and the text that is added; or a hunk with its marks. */
type Case = readonly [path: string, added: string] | readonly [path: string, hunk: readonly string[]];

function check([path, lines]: Case, options: CheckOptions = {}): Finding[] {
  return checkFile(
    patchOf(path, typeof lines === "string" ? lines.split("\n").map((line) => `+${line}`) : lines),
    options,
  );
}

const KEY = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
/** Put together here, so that no scanner takes this file for one that holds keys. */
const BEGIN = "-----BEGIN";
const PRIVATE = "PRIVATE KEY-----";

const cases: Readonly<Record<string, { yes: readonly Case[]; no: readonly Case[] }>> = {
  "conflict-marker": {
    yes: [
      ["src/a.ts", "<<<<<<< HEAD\nconst a = 1;\n=======\nconst a = 2;\n>>>>>>> topic"],
      ["src/a.py", [" a = 1", "+<<<<<<< Updated upstream", "+b = 2"]],
      ["config.yml", ">>>>>>> 3f2a1bc (subject)"],
      ["package.json", "||||||| merged common ancestors"],
      ["src/Main.java", "<<<<<<< ours"],
      ["style.css", ">>>>>>> origin/main"],
      ["Makefile", "<<<<<<< HEAD:Makefile"],
    ],
    no: [
      ["docs/merging.md", "<<<<<<< HEAD\nyours\n=======\ntheirs\n>>>>>>> topic"],
      ["README", "<<<<<<< HEAD"],
      ["tests/merge_test.go", "<<<<<<< HEAD"],
      ["src/a.ts", '  "<<<<<<< HEAD",'],
      ["src/a.cpp", "std::cout <<<<<<< x;"],
      ["src/a.ts", "<<<<<<<< HEAD"],
      ["guide.rst", "======="],
      ["src/a.ts", [" <<<<<<< HEAD", "+const a = 1;"]],
      ["src/a.ts", ["-<<<<<<< HEAD"]],
    ],
  },
  "bidi-control": {
    yes: [
      ["src/a.c", 'if (access_level != "user\u202e \u2066// Check if admin\u2069 \u2066") {'],
      ["a.js", "/* \u202e } \u2066if (isAdmin)\u2069 \u2066 begin admins only */"],
      ["a.py", "''' Subtract funds \u2067''' ;return"],
      ["a.go", 'const a = "x\u202ay"'],
      ["a.rs", 'let level = "user\u202b";'],
      ["A.java", "// \u202dx"],
    ],
    no: [
      ["README.md", "\u202bעברית\u202c"],
      ["locales/he.json", '"a": "\u2067שלום\u2069"'],
      ["a.ts", String.raw`const BIDI = /[\u202a-\u202e]/;`],
      ["a.py", "# Hebrew: שלום"],
      ["a.ts", "const rtl = '\u200f';"],
      ["po/he.po", 'msgstr "\u202a"'],
      ["a.ts", ["-const a = '\u202e';"]],
    ],
  },
  "invisible-character": {
    yes: [
      ["a.ts", "const admin\u200b = true;"],
      ["a.py", "def check\u2060(user):"],
      ["a.js", "const { timeout,\u3164 } = request.query;"],
      ["a.go", "x :=\u200b 1"],
      ["a.ts", "  return\ufeff value;"],
      ["A.java", "int \u00adcount = 0;"],
      ["a.ts", "let a\u{e0041} = 1;"],
    ],
    no: [
      ["tests/a.ts", "const admin\u200b = true;"],
      ["a.ts", 'const ZWSP = "\u200b";'],
      ["a.ts", "// a zero-width space: \u200b"],
      ["a.ts", ["+\ufeffimport a from './a';"]],
      ["README.md", "foo\u200bbar"],
      ["a.ts", "const family = '👨‍👩‍👧';"],
      ["a.ts", "const text = `a\u200bb`;"],
      ["a.py", 'TEXT = """\na\u200bb\n"""'],
      ["i18n/fa.json", '"می\u200cخواهم"'],
    ],
  },
  "private-key": {
    yes: [
      ["deploy/key.pem", `${BEGIN} ${PRIVATE}\n${KEY}`],
      ["server.key", `${BEGIN} RSA ${PRIVATE}\n${KEY}`],
      ["src/config.ts", `const key = "${BEGIN} ${PRIVATE}\\n${KEY}\\n";`],
      ["config/app.yml", `key: |\n  ${BEGIN} EC ${PRIVATE}\n  ${KEY}`],
      ["credentials.json", `"private_key": "${BEGIN} ${PRIVATE}\\n${KEY}"`],
      ["id", `${BEGIN} OPENSSH ${PRIVATE}\n${KEY}`],
      ["a.pem", `${BEGIN} RSA ${PRIVATE}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,5F\n\n${KEY}`],
      ["a.ts", `// octavo-ignore private-key\nconst key = "${BEGIN} ${PRIVATE}\\n${KEY}";`],
      ["a.go", `key := "${BEGIN} ${PRIVATE}\\n" +\n\t"${KEY}"`],
    ],
    no: [
      ["a.ts", `if (text.includes("${BEGIN} ${PRIVATE}")) return true;`],
      ["cert.pem", `${BEGIN} CERTIFICATE-----\n${KEY}`],
      ["a.pem", `${BEGIN} PUBLIC KEY-----\n${KEY}`],
      ["tests/fixtures/key.pem", `${BEGIN} ${PRIVATE}\n${KEY}`],
      ["docs/keys.md", `${BEGIN} ${PRIVATE}\n...\n-----END`],
      ["a.py", `PATTERN = r"${BEGIN} [A-Z ]*${PRIVATE}"`],
      ["a.pem", ["-" + `${BEGIN} ${PRIVATE}`, `-${KEY}`]],
      ["a.sh", `grep -q '${BEGIN} ${PRIVATE}' "$file"`],
    ],
  },
  "before-merge": {
    yes: [
      ["a.ts", "const limit = 1; // DO NOT COMMIT"],
      ["a.py", "# TODO: remove before merging"],
      ["a.go", "// FIXME put the check back before merge"],
      ["A.java", "/* NOCOMMIT */"],
      ["a.rb", "# remove before commit"],
      ["ci.yml", "  - run: true # DO NOT MERGE"],
      ["a.sh", "set -x # Remove me before landing"],
      ["a.ts", "const x = `a`; // XXX revert this before merge"],
      ["a.c", "int a; // TODO(ann): make this 5 again before we merge"],
    ],
    no: [
      ["a.py", "# do not commit here: the caller ends the transaction"],
      ["a.ts", "// Do not merge cells that span rows"],
      ["a.ts", 'const label = "DO NOT MERGE";'],
      ["ci.yml", "if: contains(labels, 'DO NOT MERGE')"],
      ["README.md", "DO NOT COMMIT the .env file"],
      ["a.go", "// TODO: validate before merging the two maps"],
      ["a.ts", "// sort the rows before merge"],
      ["a.sql", "-- before commit"],
      ["a.ts", ["-// DO NOT COMMIT"]],
      ["a.ts", ["-  // DO NOT COMMIT", "+    // DO NOT COMMIT"]],
    ],
  },
  "focused-test": {
    yes: [
      ["src/a.test.ts", '  it.only("adds", () => {'],
      ["src/a.ts", "describe.only('cart', () => {"],
      ["a.spec.js", 'fit("adds", function () {'],
      ["a.spec.js", "  fdescribe('cart', () => {"],
      ["spec/a_spec.rb", '  fit "adds" do'],
      ["a.test.ts", "test.only.each([1, 2])('%d', (n) => {"],
      ["a.test.ts", "test.concurrent.only('x', async () => {"],
      ["a.spec.ts", "test.describe.only('x', () => {"],
      ["a_test.go", '\tFIt("adds", func() {'],
      ["test/a_test.dart", "  solo_test('adds', () {"],
    ],
    no: [
      ["model.test.ts", "model.fit(xs, ys);"],
      ["src/a.ts", 'fit("cover", box);'],
      ["a.test.ts", "const row = schema.only(['a', 'b']);"],
      ["app/User.php", "$request->only('name');"],
      ["a.test.ts", '// it.only("adds", () => {'],
      ["a.test.ts", "const text = `\nit.only('adds', () => {\n`;"],
      ["a.test.ts", 'expect(code).toBe("it.only()");'],
      ["a.test.ts", ['-it.only("adds", () => {']],
      ["a.test.ts", [
        "       test.skip('my test', () => {});",
        "       test.fail('my test', () => {});",
        "+      test.fail.only('my test', () => {});",
      ]],
      ["a.test.ts", ["       test.only('a', () => {});", "+      test.describe.only('b', () => {});"]],
      ["a.test.ts", "test.only('focused tests run alone', () => {"],
      ["a.test.ts", ["+  it.only('a', () => {", "+  });", "   `,", "   b: `", "+  it.only('b', () => {", "   `,"]],
      ["src/runner.ts", "test.only = function (name, fn) {"],
      ["docs/testing.md", 'it.only("adds", () => {'],
      ["a.test.ts", ["-it.only('a', () => {", "+  it.only('a', () => {"]],
    ],
  },
  "skipped-test": {
    yes: [
      ["a.test.ts", '  it.skip("adds", () => {'],
      ["a.spec.js", "xdescribe('cart', () => {"],
      ["a.test.ts", "describe.skip(`cart`, () => {"],
      ["tests/test_a.py", "@pytest.mark.skip\ndef test_a():"],
      ["tests/test_a.py", "    @unittest.skip()\n    def test_a(self):"],
      ["src/test/java/ATest.java", "    @Disabled\n    @Test"],
      ["src/a.rs", "    #[test]\n    #[ignore]\n    fn adds() {"],
      ["ATests.cs", "        [Ignore]\n        [TestMethod]"],
    ],
    no: [
      ["a.test.ts", '  // flaky on Windows, see #12\n  it.skip("adds", () => {'],
      ["a.test.ts", 'it.skip("adds", () => { // needs a display'],
      ["tests/test_a.py", '@pytest.mark.skip(reason="needs a display")'],
      ["tests/test_a.py", '@pytest.mark.skipif(sys.platform == "win32", reason="x")'],
      ["src/test/java/ATest.java", '    @Disabled("until the server answers again")'],
      ["src/test/java/ATest.java", "    @DisabledOnOs(OS.WINDOWS)"],
      ["src/a.rs", '    #[ignore = "slow"]'],
      ["a.test.ts", "list.skip(3);"],
      ["a.test.ts", "test.skip(browserName === 'webkit', 'not there');"],
      ["src/a.py", "@pytest.mark.skip"],
      ["a.test.ts", ["-  it.skip('a', () => {", "+it.skip('a', () => {"]],
    ],
  },
  "debugger": {
    yes: [
      ["src/a.ts", "  debugger;"],
      ["src/a.vue", "debugger"],
      ["app/a.py", "    import pdb; pdb.set_trace()"],
      ["app/a.py", "breakpoint()"],
      ["app/a.rb", "    binding.pry"],
      ["src/a.rs", "    let x = dbg!(compute());"],
      ["src/a.php", "    dd($order);"],
      ["src/A.cs", "            Debugger.Break();"],
      ["lib/a.ex", "    IEx.pry"],
      ["R/a.R", "  browser()"],
    ],
    no: [
      ["src/a.ts", "// debugger;"],
      ["src/a.ts", 'const word = "debugger;";'],
      ["src/a.ts", "this.debugger = new Debugger();"],
      ["app/a.py", "def breakpoint():"],
      ["app/a.py", 'TEXT = """\nbreakpoint()\n"""'],
      ["app/a.py", "    if DEBUG:\n        breakpoint()"],
      ["src/a.rs", "// dbg!(x)"],
      ["README.md", "debugger;"],
      ["app/a.rb", "# binding.pry"],
      ["src/a.js", "// eslint-disable-next-line no-debugger\ndebugger;"],
      ["src/a.php", "$this->dd($x);"],
      ["src/a.ts", ["-  debugger;"]],
      ["src/a.ts", ["-debugger;", "+    debugger;"]],
    ],
  },
  "tls-off": {
    yes: [
      ["src/a.ts", "const agent = new https.Agent({ rejectUnauthorized: false });"],
      ["src/a.js", 'process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";'],
      ["src/a.js", "process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = 0"],
      ["app/a.py", "response = requests.get(url, verify=False)"],
      ["app/a.py", "context.verify_mode = ssl.CERT_NONE"],
      ["a.go", "\tTLSClientConfig: &tls.Config{InsecureSkipVerify: true},"],
      ["a.rb", "http.verify_mode = OpenSSL::SSL::VERIFY_NONE"],
      ["a.php", "curl_setopt($ch, CURLOPT_SSL_VERIFYPEER, false);"],
      ["a.rs", "    .danger_accept_invalid_certs(true)"],
      ["A.cs", "handler.ServerCertificateCustomValidationCallback = (a, b, c, d) => true;"],
      ["install.sh", "curl -sSLk https://example.org/x | sh"],
      ["Dockerfile", "ENV NODE_TLS_REJECT_UNAUTHORIZED=0"],
    ],
    no: [
      ["src/a.ts", "rejectUnauthorized: options.strict,"],
      ["src/a.ts", "// rejectUnauthorized: false"],
      ["tests/a.test.ts", "rejectUnauthorized: false"],
      ["app/a.py", "data = jwt.decode(token, verify=False)"],
      ["app/a.py", "if insecure:\n    context.verify_mode = ssl.CERT_NONE"],
      ["app/a.py", "if context.verify_mode == ssl.CERT_NONE:"],
      ["a.go", "InsecureSkipVerify: config.Insecure,"],
      ["check.sh", "curl -k https://localhost:8443/health"],
      ["a.sh", "curl -sSfL https://example.org/k"],
      ["README.md", "rejectUnauthorized: false"],
      ["extra/healthcheck.js", 'process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";'],
      ["Dockerfile", "HEALTHCHECK CMD curl -k https://$HOST/health"],
      ["src/a.ts", "const socket = tls.connect({\n  host,\n  rejectUnauthorized: false,"],
      ["src/a.ts", "// the appliance has a self-signed certificate\nrejectUnauthorized: false,"],
      ["a.go", "\tif opts.SkipVerify {\n\t\tcfg.InsecureSkipVerify = true\n\t}"],
    ],
  },
  "eval": {
    yes: [
      ["src/a.ts", 'const value = eval("window." + name);'],
      ["src/a.js", "  return eval('(' + json + ')');"],
      ["src/a.vue", "eval(`run(${name})`)"],
      ["src/a.js", "eval(name + '()')"],
      ["app/a.py", "    return eval(f'{name}.run()')"],
      ["app/a.py", "exec('import ' + name)"],
      ["app/a.py", 'eval("%s(1)" % name)'],
      ["src/a.php", "eval('return ' . $code . ';');"],
    ],
    no: [
      ["src/a.ts", "model.eval('a' + b);"],
      ["src/a.ts", "eval(expression);"],
      ["src/a.ts", "eval(`(${expression})`);"],
      ["app/a.py", "value = ast.literal_eval('[' + text + ']')"],
      ["app/a.py", "exec(code, scope)"],
      ["app/a.py", "def eval(node):"],
      ["app/a.py", "eval(f'_load_{name}')(x)"],
      ["src/a.ts", "// eval('a' + b)"],
      ["src/a.ts", "const warning = \"never use eval('a' + b)\";"],
      ["run.sh", 'eval "a $b"'],
      ["tests/a.py", "eval('a' + b)"],
      ["src/a.ts", "regex.exec('a' + b)"],
      ["src/a.ts", "await eval(`import(${name})`)"],
      ["public/js/a.js", "eval('a' + b);"],
      ["app/a.py", 'eval("1 + 1")'],
      ["app/a.py", "# the expression is ours\neval('a' + b)"],
      ["src/a.ts", ["-  eval('a' + b);", "+    eval('a' + b);"]],
    ],
  },
  "empty-catch": {
    yes: [
      ["src/a.ts", "try {\n  a();\n  b();\n  c();\n  d();\n  e();\n} catch (error) {}"],
      ["src/a.ts", "  try {\n    a();\n    b();\n    c();\n    d();\n    e();\n  } catch (error) {\n  }"],
      ["src/A.java", "try {\n  a();\n  b();\n  c();\n  d();\n  e();\n} catch (IOException e) {\n}"],
      ["src/A.cs", "try\n{\n  a();\n  b();\n  c();\n  d();\n  e();\n}\ncatch (Exception ex) { }"],
      [
        "app/a.py",
        "    try:\n        a()\n        b()\n        c()\n        d()\n        e()\n    except:\n        pass",
      ],
      ["app/a.py", "try:\n    a()\n    b()\n    c()\n    d()\n    e()\nexcept Exception as error:\n    pass"],
      ["src/a.cpp", "try {\n  a();\n  b();\n  c();\n  d();\n  e();\n} catch (...) {}"],
      ["src/a.php", "try {\n  a();\n  b();\n  c();\n  d();\n  e();\n} catch (\\Exception $e) {}"],
    ],
    no: [
      ["src/a.ts", "try { a(); } catch (error) {}"],
      ["src/a.ts", "try {\n  a();\n} catch (error) {}"],
      ["src/a.ts", "try {\n  a();\n  b();\n  c();\n  d();\n  e();\n} catch {\n}"],
      ["src/a.ts", "try {\n  a();\n  b();\n  c();\n  d();\n  e();\n} catch (error) {\n  // it may be gone already\n}"],
      ["src/a.ts", "// best effort\ntry {\n  a();\n  b();\n  c();\n  d();\n  e();\n} catch (error) {}"],
      ["src/A.java", "try {\n  a();\n  b();\n  c();\n  d();\n  e();\n} catch (Exception ignored) {\n}"],
      ["app/a.py", "try:\n    a()\n    b()\n    c()\n    d()\n    e()\nexcept ImportError:\n    pass"],
      ["app/a.py", "try:\n    a()\n    b()\n    c()\n    d()\n    e()\nexcept Exception:\n    pass  # best effort"],
      ["app/a.py", "try:\n    a()\n    b()\n    c()\n    d()\n    e()\nexcept Exception:\n    log()"],
      ["tests/a.ts", "try {\n  a();\n  b();\n  c();\n  d();\n  e();\n} catch (error) {}"],
      ["src/a.ts", "promise.catch(() => {});"],
      ["src/a.ts", "} catch (error) {}"],
      ["src/a.ts", [
        " try {",
        "   a();",
        "   b();",
        "   c();",
        "   d();",
        "   e();",
        "+} catch (error) {",
        "   rethrow(error);",
        " }",
      ]],
    ],
  },
  "suppression": {
    yes: [
      ["src/a.js", "// eslint-disable-next-line\nfoo();"],
      ["src/a.js", "foo(); // eslint-disable-line"],
      ["src/a.tsx", "  {/* eslint-disable-next-line */}"],
      ["src/a.ts", "// tslint:disable-next-line"],
      ["a.go", "doIt() //nolint"],
      ["src/a.js", "/* eslint-disable-line */ foo();"],
      ["src/a.ts", "// oxlint-disable-next-line"],
    ],
    no: [
      ["src/a.ts", "// eslint-disable-next-line no-console"],
      ["src/a.ts", "// eslint-disable-next-line -- the plugin cannot read this"],
      ["src/a.ts", "// @ts-expect-error the types are wrong"],
      ["src/a.ts", "// @ts-ignore"],
      ["src/a.ts", "/* eslint-disable */"],
      ["app/a.py", "x = f()  # type: ignore"],
      ["a.go", "doIt() //nolint:errcheck"],
      ["src/a.ts", 'const text = "// eslint-disable-line";'],
      ["tests/a.ts", "// eslint-disable-next-line"],
      ["vendor/a.js", "// eslint-disable-next-line"],
      ["docs/a.md", "// eslint-disable-next-line"],
      ["src/a.ts", "// the plugin has no types\n// eslint-disable-next-line\nfoo();"],
      ["src/a.ts", ["-  // eslint-disable-next-line", "+    // eslint-disable-next-line"]],
    ],
  },
};

const NEW = ["new file mode 100644", "index 0000000..1111111"];
const NEW_EXECUTABLE = ["new file mode 100755", "index 0000000..1111111"];
const CHANGED = ["old mode 100644", "new mode 100755"];

/** A case of a rule on files: where, its header, its lines. */
type FileCase = readonly [path: string, header: readonly string[], lines?: readonly string[]];

const fileCases: Readonly<Record<string, { yes: readonly FileCase[]; no: readonly FileCase[] }>> = {
  "merge-leftover": {
    yes: ["src/a.ts.orig", "src/a.ts.rej", "Makefile.rej", "a/b/c.py.orig", "README.md.orig", "x.c.rej"].map((path) =>
      [path, NEW, ["+x"]] as const
    ),
    no: [
      ["src/origin.ts", NEW, ["+x"]],
      ["tests/fixtures/a.c.orig", NEW, ["+x"]],
      ["src/a.ts.orig", [], ["-x"]],
      ["src/a.ts.orig", [], ["-x", "+y"]],
      ["pkg_1.0.orig.tar.gz", NEW, ["+x"]],
      ["config.original.json", NEW, ["+x"]],
      ["src/a.orig.ts", NEW, ["+x"]],
    ],
  },
  "env-file": {
    yes: [
      [".env", NEW, ["+PORT=80", "+API_KEY=9f8e7d6c5b4a3210"]],
      ["server/.env.production", NEW, ["+DB_PASSWORD=hunter2hunter2"]],
      [".env.local", NEW, ["+export GITHUB_TOKEN=ghx_0123456789abcdef"]],
      [".env", NEW, ["+SESSION_SECRET='c0ffee00c0ffee00'"]],
      ["apps/web/.env", NEW, ["+AWS_SECRET_ACCESS_KEY=Zm9vYmFyYmF6cXV4"]],
      [".env.staging", NEW, ['+JWT_PRIVATE="MIIEvQIBADANBgkq"']],
    ],
    no: [
      [".env.example", NEW, ["+API_KEY=9f8e7d6c5b4a3210"]],
      [".env.sample", NEW, ["+API_KEY=9f8e7d6c5b4a3210"]],
      [".env", NEW, ["+PORT=80", "+HOST=localhost"]],
      [".env", NEW, ["+API_KEY="]],
      [".env", NEW, ["+API_KEY=your-key-here"]],
      [".env", NEW, ["+API_KEY=${API_KEY}"]],
      [".env", [], [" A=1", "+API_KEY=9f8e7d6c5b4a3210"]],
      ["tests/.env", NEW, ["+API_KEY=9f8e7d6c5b4a3210"]],
      ["src/env.ts", NEW, ["+API_KEY=9f8e7d6c5b4a3210"]],
      [".envrc", NEW, ["+use flake"]],
    ],
  },
  "key-file": {
    yes: [
      ["id_rsa", NEW, ["+x"]],
      ["deploy/id_ed25519", NEW, ["+x"]],
      ["certs/server.pfx", [...NEW, "Binary files /dev/null and b/certs/server.pfx differ"]],
      ["release.keystore", [...NEW, "Binary files /dev/null and b/release.keystore differ"]],
      ["passwords.kdbx", [...NEW, "Binary files /dev/null and b/passwords.kdbx differ"]],
      ["home/.netrc", NEW, ["+machine example.org login a password b"]],
      ["putty.ppk", NEW, ["+x"]],
    ],
    no: [
      ["id_rsa.pub", NEW, ["+ssh-rsa AAAA"]],
      ["android/debug.keystore", [...NEW, "Binary files /dev/null and b/android/debug.keystore differ"]],
      ["tests/certs/server.pfx", [...NEW, "Binary files /dev/null and b/tests/certs/server.pfx differ"]],
      ["id_rsa", [], ["-x"]],
      ["src/keystore.ts", NEW, ["+x"]],
      ["docs/id_rsa.md", NEW, ["+x"]],
      ["cert.pem", NEW, ["+x"]],
    ],
  },
  "executable-data": {
    yes: [
      ["README.md", NEW_EXECUTABLE, ["+x"]],
      ["a.json", CHANGED],
      ["img/logo.png", [...NEW_EXECUTABLE, "Binary files /dev/null and b/img/logo.png differ"]],
      ["config.yml", CHANGED],
      ["include/a.h", NEW_EXECUTABLE, ["+x"]],
      ["style.css", CHANGED],
    ],
    no: [
      ["run.sh", NEW_EXECUTABLE, ["+#!/bin/sh"]],
      ["tool", NEW_EXECUTABLE, ["+#!/usr/bin/env node"]],
      ["a.json", NEW, ["+{}"]],
      ["a.json", ["old mode 100755", "new mode 100644"]],
      ["script.py", CHANGED],
      ["notes.txt", NEW_EXECUTABLE, ["+#!/bin/sh"]],
      ["deploy.ts", CHANGED],
    ],
  },
};

describe("checkFile() finds what is certain and leaves near misses alone:", () => {
  for (const [rule, { yes, no }] of Object.entries(cases)) {
    test(`${rule} (${yes.length} true, ${no.length} near misses)`, () => {
      assert(yes.length >= 6 && no.length >= 6);
      for (const one of yes) {
        const found = check(one).filter((finding) => finding.rule === rule);
        assertEquals(found.length > 0, true, `not found: ${JSON.stringify(one)}`);
      }
      for (const one of no) {
        const found = check(one).filter((finding) => finding.rule === rule);
        assertEquals(found, [], `found, though it is a near miss: ${JSON.stringify(one)}`);
      }
    });
  }

  for (const [rule, { yes, no }] of Object.entries(fileCases)) {
    test(`${rule} (${yes.length} true, ${no.length} near misses)`, () => {
      assert(yes.length >= 6 && no.length >= 6);
      const rulesOf = ([path, header, lines = []]: FileCase) =>
        checkFile(patchOf(path, lines, header)).map((finding) => finding.rule);
      for (const one of yes) assert(rulesOf(one).includes(rule), `not found: ${JSON.stringify(one)}`);
      for (const one of no) {
        assert(!rulesOf(one).includes(rule), `found, though it is a near miss: ${JSON.stringify(one)}`);
      }
    });
  }

  test("there is a table for each rule", () => {
    const tables = [...Object.keys(cases), ...Object.keys(fileCases), "two-lockfiles"];
    assertEquals(rules.map(({ id }) => id).sort(), tables.sort());
  });
});

test("checkPatch() finds a lockfile that was added beside another package manager's", () => {
  type Changed = readonly [path: string, status: FileDiff["status"]];
  const found = (...files: readonly Changed[]) =>
    checkPatch(files.map(([path, status]) => ({ path, status }))).map(({ path }) => path);
  const yes: readonly (readonly [Changed, Changed])[] = [
    [["package-lock.json", "added"], ["yarn.lock", "modified"]],
    [["web/yarn.lock", "added"], ["web/package-lock.json", "modified"]],
    [["pnpm-lock.yaml", "added"], ["package-lock.json", "modified"]],
    [["bun.lock", "added"], ["npm-shrinkwrap.json", "modified"]],
    [["api/uv.lock", "added"], ["api/poetry.lock", "modified"]],
    [["package-lock.json", "added"], ["bun.lockb", "renamed"]],
  ];
  for (const [one, other] of yes) assertEquals(found(one, other, ["package.json", "modified"]), [one[0]]);
  const no: readonly (readonly Changed[])[] = [
    [["package-lock.json", "added"]],
    [["pnpm-lock.yaml", "added"], ["yarn.lock", "deleted"]],
    [["package-lock.json", "modified"], ["yarn.lock", "modified"]],
    [["a/package-lock.json", "added"], ["b/yarn.lock", "modified"]],
    [["package-lock.json", "added"], ["uv.lock", "modified"]],
    [["package-lock.json", "added"], ["npm-shrinkwrap.json", "modified"]],
    [["tests/a/package-lock.json", "added"], ["tests/a/yarn.lock", "modified"]],
    [["bun.lock", "added"], ["bun.lockb", "modified"]],
  ];
  for (const files of no) assertEquals(found(...files), []);
});

describe("PatchChecker", () => {
  const findings = (...files: FileDiff[]) => {
    const checker = new PatchChecker();
    for (const file of files) checker.add(file);
    return checker.end();
  };

  test("finds what each file has, in the order of the files", () => {
    const found = findings(patchOf("b.ts", ["+debugger;"]), patchOf("a.ts", ["+debugger;"]));
    assertEquals(found.map(({ path }) => path), ["b.ts", "a.ts"]);
  });

  test("takes nothing for new that another file loses, whichever comes first", () => {
    assertEquals(findings(patchOf("a.ts", ["-  debugger;"]), patchOf("b.ts", ["+debugger;"])), []);
    assertEquals(findings(patchOf("b.ts", ["+debugger;"]), patchOf("a.ts", ["-  debugger;"])), []);
  });

  test("lists ten files that were made executable, and counts the rest", () => {
    const found = findings(...Array.from({ length: 83 }, (_, at) => patchOf(`${at}.json`, [], CHANGED)));
    assertEquals(found.length, 10);
    assert(found[9]?.body.endsWith("73 more files are not listed."));
  });

  test("sees lockfiles of all files", () => {
    const found = findings(patchOf("yarn.lock", [" a", "+b"]), patchOf("package-lock.json", ["+{}"], NEW));
    assertEquals(found.map(({ rule }) => rule), ["two-lockfiles"]);
  });
});

describe("checkFile()", () => {
  test("says where, what and why, and quotes the line", () => {
    assertEquals(check(["src/a.ts", "const a = 1;\n  debugger;"]), [{
      severity: "bug",
      path: "src/a.ts",
      side: "new",
      line: 11,
      title: "Debugger statement left in",
      body: "It stops the program, or prints what only its author wanted to see.",
      quote: "  debugger;",
      anchor: "line",
      grounded: true,
      source: "check",
      rule: "debugger",
      parts: [],
    }]);
  });

  test("counts lines over several hunks and removed lines", () => {
    const text = [
      "--- a/a.ts",
      "+++ b/a.ts",
      "@@ -1,3 +1,3 @@",
      " a",
      "-b",
      "-c",
      "+debugger;",
      "+d",
      "@@ -50,2 +50,3 @@",
      " e",
      "+  debugger;",
      " f",
      "",
    ].join("\n");
    assertEquals(checkFile(parseUnifiedDiff(text).files[0]!).map(({ line }) => line), [2, 51]);
  });

  test("honours octavo-ignore on the line and above it, for the rules it names, and counts it", () => {
    const ignored: string[] = [];
    const options: CheckOptions = { onIgnored: ({ rule, path, line }) => ignored.push(`${path}:${line} ${rule}`) };
    assertEquals(check(["a.ts", "// octavo-ignore debugger: wanted\ndebugger;"], options), []);
    assertEquals(check(["a.ts", "debugger; // octavo-ignore eval, debugger"], options), []);
    assertEquals(check(["a.ts", [" // octavo-ignore debugger", "+debugger;"]], options), []);
    assertEquals(ignored, ["a.ts:11 debugger", "a.ts:10 debugger", "a.ts:11 debugger"]);
    assertEquals(check(["a.ts", "// octavo-ignore eval\ndebugger;"], options).length, 1);
    assertEquals(check(["a.ts", "// octavo-ignore\ndebugger;"], options).length, 1);
    assertEquals(check(["a.ts", "// octavo-ignore debugger\n\ndebugger;"], options).length, 1);
  });

  test("does not let a secret be ignored, and does not repeat it", () => {
    const [finding] = check(["a.pem", `# octavo-ignore private-key\n${BEGIN} ${PRIVATE}\n${KEY}`]);
    assertEquals([finding?.rule, finding?.line, finding?.quote], ["private-key", 11, undefined]);
  });

  test("leaves out rules that are switched off", () => {
    assertEquals(check(["a.ts", "debugger;"], { off: new Set(["debugger"]) }), []);
    assertEquals(
      checkPatch([{ path: "yarn.lock", status: "added" }, { path: "bun.lock", status: "added" }], {
        off: new Set(["two-lockfiles"]),
      }),
      [],
    );
  });

  test("finds nothing where it cannot tell code from a string that began above", () => {
    assertEquals(check(["a.ts", [" debugger;", "+debugger;", " `;", "+const a = 1;"]]), []);
    assertEquals(check(["a.py", ["+breakpoint()", ' """']]), []);
    assertEquals(check(["a.ts", ["+debugger;", "  */", "+const a = 1;"]]), [], "a comment that was opened above");
    assertEquals(check(["a.ts", ["+const a = `${b({ c: `x` })}`;", "+debugger;"]]).length, 1, "nested templates");
    assertEquals(
      check(["a.ts", ["+const a = /`/.test(b) || c / d / e;", "+debugger;"]]).length,
      1,
      "a backtick in a regular expression",
    );
  });

  test("lists no more than so many findings of a rule in one file", () => {
    const found = check(["a.ts", Array.from({ length: 1_000 }, () => "debugger;").join("\n")]);
    assertEquals(found.length, MAX_FINDINGS_OF_RULE);
    assert(found.at(-1)?.body.endsWith("not listed."));
  });

  test("finds nothing in deleted files, binary files and renames", () => {
    for (
      const text of [
        "diff --git a/a.ts b/a.ts\ndeleted file mode 100644\n--- a/a.ts\n+++ /dev/null\n@@ -1 +0,0 @@\n-debugger;\n",
        "diff --git a/a.ts b/b.ts\nsimilarity index 100%\nrename from a.ts\nrename to b.ts\n",
        "diff --git a/a.png b/a.png\nindex 1..2 100644\nBinary files a/a.png and b/a.png differ\n",
      ]
    ) assertEquals(checkFile(parseUnifiedDiff(text).files[0]!), []);
  });

  test("reads the lines of a merge's combined diff that are new against both parents", () => {
    const text =
      "diff --cc a.ts\nindex 1,2..3\n--- a/a.ts\n+++ b/a.ts\n@@@ -1,1 -1,1 +1,3 @@@\n  a\n++debugger;\n+ b\n";
    assertEquals(checkFile(parseUnifiedDiff(text).files[0]!).map(({ line }) => line), [2]);
  });
});

describe("FileChecker", () => {
  const body = [
    " const a = 1;",
    "-old();",
    "+debugger;",
    "+}",
    " /* a comment",
    "+debugger;",
    " */",
    "+  debugger;\r",
    "+const cheers = 'ü 😀';",
    "+const key = eval('a.' + text);",
  ].join("\n") + "\n";

  test("finds the same whatever the pieces", () => {
    const whole = new FileChecker({ path: "a.ts", status: "modified" });
    whole.hunk(7);
    whole.push(body);
    const expected = whole.end();
    assertEquals(expected.map(({ rule, line }) => `${line} ${rule}`), ["8 debugger", "13 debugger", "15 eval"]);
    for (let size = 1; size < 20; size++) {
      const checker = new FileChecker({ path: "a.ts", status: "modified" });
      checker.hunk(7);
      for (let at = 0; at < body.length; at += size) checker.push(body.slice(at, at + size));
      assertEquals(checker.end(), expected);
    }
  });

  test("finds each thing once in a hunk of a hundred thousand lines, wherever its windows are cut", () => {
    const checker = new FileChecker({ path: "a.ts", status: "added" });
    checker.hunk(1);
    const wanted: number[] = [];
    const block = ["try {", "  a();", "  b();", "  c();", "  d();", "  e();", "} catch (error) {", "}"];
    for (let line = 1; line <= 100_000; line++) {
      const at = line % 797;
      if (at === block.length - 2 && line > 797) wanted.push(line);
      checker.push(`+${block[at] ?? "f();"}\n`);
    }
    assertEquals(checker.end().map(({ line }) => line), wanted.slice(0, MAX_FINDINGS_OF_RULE));
    assert(wanted.length > MAX_FINDINGS_OF_RULE);
  });

  test("keeps no more of an endless line than it looks at", () => {
    const checker = new FileChecker({ path: "a.ts", status: "added" });
    checker.hunk(1);
    for (let i = 0; i < 1_000; i++) checker.push(i === 0 ? "+debugger;" : " ".repeat(10_000));
    checker.push("\n+debugger;\n");
    assertEquals(checker.end().map(({ line }) => line), [2]);
  });
});
