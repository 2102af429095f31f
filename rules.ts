/**
 * The rules of the built-in checks on added lines, as data: what each looks for, in which files, and why it matters. A rule
 * says only what is certain; what may be meant is left alone.
 *
 * @module
 */

import type { Rule } from "./finding.ts";
import type { FileFacts, Language, LineParts } from "./source_text.ts";

/** A line of the new side, as a rule sees it. */
export interface CheckedLine {
  /** The line without its marker. */
  text: string;
  /** Whether it is an addition. */
  added: boolean;
  /** Its code and its comment; `undefined` where they cannot be told apart. */
  parts: LineParts | undefined;
  /** The line so many below, or above if negative, if the hunk shows it. */
  near(offset: number): CheckedLine | undefined;
}

/** A rule on added lines. */
export interface LineRule extends Rule {
  /** The title of its findings. */
  title: string;
  /** Source of a regular expression without which no line is worth a look; all of them are joined to one. */
  hint: string;
  /** Whether it looks at a file at all. */
  applies(file: FileFacts): boolean;
  /** Whether a line that has the hint is a finding. */
  test(line: CheckedLine, file: FileFacts): boolean;
}

const PROSE: readonly Language[] = ["prose"];
const CODE: readonly Language[] = [
  "javascript",
  "python",
  "ruby",
  "php",
  "go",
  "rust",
  "java",
  "csharp",
  "c",
  "swift",
  "dart",
  "elixir",
  "perl",
  "r",
  "shell",
  "powershell",
];

const isCode = ({ language }: FileFacts) => CODE.includes(language);

/** The code of a line, or nothing where it cannot be told from strings. */
const code = ({ parts }: CheckedLine): string => parts?.code ?? "";
const comment = ({ parts }: CheckedLine): string => parts?.comment.trim() ?? "";

/** Whether somebody wrote a reason: a comment on the line or above it. */
function isExplained(line: CheckedLine): boolean {
  const above = line.near(-1);
  return comment(line) !== "" ||
    (above !== undefined && above.parts !== undefined && comment(above) !== "" && code(above).trim() === "");
}

/** Marks by which a linter is told that a line is meant. */
const ALLOWED =
  /\b(?:eslint-disable|biome-ignore|oxlint-disable|deno-lint-ignore|noqa|nolint|rubocop:disable|pylint: ?disable|NOSONAR|nosec)\b|clippy::/;

/** Whether a linter is told that a line is meant. */
function isAllowed(line: CheckedLine): boolean {
  return [0, -1].some((offset) => ALLOWED.test(line.near(offset)?.text ?? ""));
}

/** Whether a condition near above speaks of the same thing: what is switched by an option is no accident. */
function isSwitched(line: CheckedLine, words: RegExp): boolean {
  for (let offset = 0; offset >= -4; offset--) {
    const near = line.near(offset);
    if (
      near && /\b(?:if|elif|elsif|unless|when|case|switch|else)\b|\?|&&|\|\|/.test(near.text) && words.test(near.text)
    ) return true;
  }
  return false;
}

const conflictMarker: LineRule = {
  id: "conflict-marker",
  severity: "bug",
  title: "Conflict marker left in",
  why: "A merge was committed unresolved: both versions are in the file.",
  files: "all but prose and tests",
  hint: "(?:<{7}|>{7}|\\|{7}) \\S",
  applies: ({ language, test }) => !PROSE.includes(language) && !test,
  test: ({ text }) => /^(?:<{7}|>{7}|\|{7}) \S/.test(text),
};

const bidiControl: LineRule = {
  id: "bidi-control",
  severity: "bug",
  title: "Bidirectional control character in code",
  why: "It changes the order in which code is shown, so that what is read is not what runs (CVE-2021-42574).",
  files: "source code",
  hint: "[\\u202a-\\u202e\\u2066-\\u2069]",
  applies: isCode,
  test: ({ text }) => /[\u202a-\u202e\u2066-\u2069]/.test(text),
};

// Zero-width space, word joiner, a byte order mark inside, Hangul fillers, tag characters; not what emoji are joined with.
const INVISIBLE = "[\\u200b\\u2060-\\u2064\\ufeff\\u115f\\u1160\\u3164\\uffa0\\u180e\\u00ad]|\\udb40[\\udc00-\\udc7f]";
const invisible = new RegExp(INVISIBLE);

const invisibleCharacter: LineRule = {
  id: "invisible-character",
  severity: "bug",
  title: "Invisible character in code",
  why: "Outside of strings it makes a name that looks like another one, or code that does not compile.",
  files: "source code but tests",
  hint: INVISIBLE,
  applies: (file) => isCode(file) && !file.test,
  test: (line) => invisible.test(code(line).replace(/^\ufeff/, "")),
};

const TEST_CALLS = "describe|it|test|suite|context|specify|bench|scenario|feature|fixture";

const focusedTest: LineRule = {
  id: "focused-test",
  severity: "bug",
  title: "Focused test",
  why: "While it is there, no other test of its file or run is executed.",
  files: "tests in JavaScript, Ruby and Go",
  hint: "\\.only\\b|\\b[fF](?:it|It|describe|Describe|context|Context)\\b|\\bsolo_test\\b",
  applies: ({ language }) => ["javascript", "ruby", "go", "dart"].includes(language),
  test: (line, file) => {
    const text = code(line);
    if (isAboutFocus(line)) return false;
    if (file.language === "javascript") {
      return new RegExp(`^\\s*(?:${TEST_CALLS})(?:\\.(?!only\\b)\\w+)*\\.only\\s*(?:\\(|\\.each\\b|\`|\\.\\w+\\s*\\()`)
        .test(text) ||
        (file.test && /^\s*f(?:it|describe|context)\s*\(\s*["'`]/.test(text));
    }
    if (!file.test) return false;
    if (file.language === "ruby") return /^\s*f(?:it|describe|context)\s+["']/.test(text);
    if (file.language === "dart") return /^\s*solo_(?:test|group)\s*\(/.test(text);
    return /^\s*(?:var _ = )?F(?:It|Describe|Context|Entry|DescribeTable)\s*\(\s*"/.test(text);
  },
};

/** Whether a test is about focused tests: code in a template whose start is not shown looks like a test. */
function isAboutFocus(line: CheckedLine): boolean {
  if (/["'`].*(?:\bfocus|\bonly\b).*["'`]/i.test(line.text)) return true;
  const near = [-4, -3, -2, -1, 1, 2, 3, 4].map((offset) => line.near(offset));
  const modifiers = near.flatMap((other) => /\.(skip|fixme|fail|todo|failing)\s*\(/.exec(other?.text ?? "")?.[1] ?? []);
  return new Set(modifiers).size >= 2 || near.some((other) => other && !other.added && /\.only\s*\(/.test(other.text));
}

const skippedTest: LineRule = {
  id: "skipped-test",
  severity: "risk",
  title: "Test skipped without a reason",
  why: "It no longer shows whether what it covers works, and nothing says when it will again.",
  files: "tests in JavaScript, Python, Java, Kotlin, C# and Rust",
  hint:
    "\\.skip\\b|\\bx(?:it|describe|context|test)\\b|@Disabled\\b|@Ignore\\b|mark\\.skip\\b|unittest\\.skip\\b|\\[Ignore\\]|#\\[ignore\\]",
  applies: ({ language }) => ["javascript", "python", "java", "csharp", "rust"].includes(language),
  test: (line, { language, test }) => {
    const text = code(line);
    if (isExplained(line)) return false;
    switch (language) {
      case "javascript":
        return new RegExp(`^\\s*(?:${TEST_CALLS})\\.skip\\s*\\(\\s*["'\`]`).test(text) ||
          (test && /^\s*x(?:it|describe|context|test)\s*\(\s*["'`]/.test(text));
      case "python":
        return test && /^\s*@(?:pytest\.mark\.skip|unittest\.skip)\s*(?:\(\s*\))?\s*$/.test(text);
      case "java":
        return test && /^\s*@(?:Disabled|Ignore)\s*(?:\(\s*\))?\s*$/.test(text);
      case "csharp":
        return test && /^\s*\[Ignore\]\s*$/.test(text);
      default:
        return /^\s*#\[ignore\]\s*$/.test(text);
    }
  },
};

const DEBUGGERS: { readonly [L in Language]?: RegExp } = {
  javascript: /^\s*debugger\s*;?\s*$/,
  python: /^\s*(?:breakpoint\(\s*\)|(?:import\s+i?pdb\s*;\s*)?i?pu?db\.set_trace\(\s*\))\s*$/,
  ruby: /^\s*(?:binding\.(?:pry|irb|remote_pry)|byebug|debugger)\s*$/,
  php: /^\s*(?:xdebug_break\(\s*\)|dd\(.*\)|eval\(\\Psy\\sh\(\)\))\s*;\s*$/,
  go: /^\s*runtime\.Breakpoint\(\)\s*$/,
  rust: /(?<![\w!:])dbg!\s*[([{]/,
  csharp: /^\s*(?:System\.Diagnostics\.)?Debugger\.(?:Break|Launch)\(\s*\)\s*;\s*$/,
  dart: /^\s*debugger\(\s*\)\s*;\s*$/,
  elixir: /^\s*(?:require IEx\s*;\s*)?IEx\.pry\(?\)?\s*$/,
  perl: /^\s*\$DB::single\s*=\s*1\s*;\s*$/,
  r: /^\s*browser\(\s*\)\s*$/,
};

const debuggerStatement: LineRule = {
  id: "debugger",
  severity: "bug",
  title: "Debugger statement left in",
  why: "It stops the program, or prints what only its author wanted to see.",
  files: "source code",
  hint:
    "\\bdebugger\\b|\\bbreakpoint\\(|\\.set_trace\\(|binding\\.(?:pry|irb|remote_pry)|\\bbyebug\\b|\\bxdebug_break\\b|\\bdd\\(|" +
    "Psy.sh|runtime\\.Breakpoint|\\bdbg!|Debugger\\.(?:Break|Launch)|IEx\\.pry|DB::single|\\bbrowser\\(\\s*\\)",
  applies: ({ language }) => DEBUGGERS[language] !== undefined,
  test: (line, { language }) => {
    if (isSwitched(line, /debug|trace|verbose|inspect/i) || isAllowed(line)) return false;
    return DEBUGGERS[language]?.test(code(line)) === true;
  },
};

const privateKey: LineRule = {
  id: "private-key",
  severity: "bug",
  title: "Private key",
  why: "Whoever can read the repository, now or later, has it: revoke it and take it out of the history.",
  files: "all but tests",
  ignorable: false,
  hint: "-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY",
  applies: ({ test }) => !test,
  test: (line) => {
    const behind = /-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----(.*)$/.exec(line.text)?.[1];
    if (behind === undefined) return false;
    const body = behind.replace(/\\[nr]/g, "");
    if (KEY_BODY.test(body)) return true;
    // Headers such as "Proc-Type: 4,ENCRYPTED" and an empty line may come before the body.
    return [1, 2, 3, 4].some((offset) => KEY_BODY.test(line.near(offset)?.text.trim().replace(/^["'+\s]+/, "") ?? ""));
  },
};

const KEY_BODY = /^\s*[A-Za-z0-9+/=]{40,}/;

const INSECURE = /insecure|verif|skip|tls|ssl|self.?signed|cert|dev|local|debug|unsafe|strict/i;

const CURL_OFF =
  /\bcurl\s(?:.*\s)?(?:-[a-zA-Z]*k[a-zA-Z]*|--insecure)(?=\s)|\bwget\s(?:.*\s)?--no-check-certificate\b|\bGIT_SSL_NO_VERIFY=(?:1|true)\b|\bhttp\.sslVerify(?:=|\s+)false\b/;
/** Node's switch, which is a name in code and a string in `process.env["…"]`. */
const NODE_TLS = /\bNODE_TLS_REJECT_UNAUTHORIZED["'\]]*\s*[:=]\s*["']?0["']?\s*(?:[;,\s]|$)/;

/** What switches the check of certificates off, by language; each is a literal, never an option. */
const TLS_OFF: { readonly [L in Language]?: RegExp } = {
  javascript: /\brejectUnauthorized\s*:\s*false\b/,
  python:
    /\b(?:requests|httpx)\.\w+\(.*\bverify\s*=\s*False\b|\bsession\.verify\s*=\s*False\b|\bssl\._create_unverified_context\b|\b(?:verify_mode|cert_reqs)\s*=\s*ssl\.CERT_NONE\b|\bcheck_hostname\s*=\s*False\b/,
  ruby: /=\s*OpenSSL::SSL::VERIFY_NONE\b|\bverify_mode:\s*OpenSSL::SSL::VERIFY_NONE\b/,
  php: /\bCURLOPT_SSL_VERIFY(?:PEER|HOST)\b\s*(?:,|=>)\s*(?:false|0)\b/i,
  go: /\bInsecureSkipVerify\s*[:=]\s*true\b/,
  rust: /\.danger_accept_invalid_(?:certs|hostnames)\(\s*true\s*\)/,
  shell: CURL_OFF,
  config: CURL_OFF,
  csharp:
    /\bDangerousAcceptAnyServerCertificateValidator\b|\bServerCertificate(?:Custom)?ValidationCallback\s*\+?=.*=>\s*true\s*[;,]/,
};

const tlsOff: LineRule = {
  id: "tls-off",
  severity: "risk",
  title: "Certificates are not checked",
  why: "Whoever sits between the two ends can read and change what is sent.",
  files: "source code but tests",
  hint: "rejectUnauthorized|NODE_TLS_REJECT_UNAUTHORIZED|verify\\s*=\\s*False|_create_unverified_context|CERT_NONE|" +
    "check_hostname|VERIFY_NONE|\\bcurl\\s|\\bwget\\s|GIT_SSL_NO_VERIFY|sslVerify|CURLOPT_SSL_VERIFY|InsecureSkipVerify|danger_accept_invalid|" +
    "DangerousAcceptAny|ServerCertificate(?:Custom)?ValidationCallback",
  applies: ({ language, test, foreign }) => !test && !foreign && TLS_OFF[language] !== undefined,
  test: (line, { language, path }) => {
    // A program may ask itself, and a proxy decides on certificates in another place.
    if (/health/i.test(path) || /\blocalhost\b|\b127\.0\.0\.1\b|\[::1\]|health/i.test(line.text)) return false;
    if ([-1, -2, -3, -4, -5, -6].some((offset) => /\btls\.connect\(/.test(line.near(offset)?.text ?? ""))) return false;
    const isOff = TLS_OFF[language]?.test(code(line)) === true ||
      (NODE_TLS.test(line.text) && code(line).trim() !== "" && language !== "python");
    const isExplainedAbove = [0, -1, -2].some((offset) => comment(line.near(offset) ?? line) !== "");
    return isOff && !isExplainedAbove && !isSwitched(line, INSECURE);
  },
};

const BEFORE_MERGE =
  /\b(?:DO[ _]?NOT[ _](?:COMMIT|MERGE|SUBMIT|CHECK[ _]?IN)|NOCOMMIT|NOMERGE|DONOTCOMMIT|DONOTMERGE|DONOTSUBMIT|DON'?T COMMIT)\b|\b(?:TODO|FIXME|XXX|HACK)\b.{0,80}\b(?:before|prior to|until) (?:we |this |it |i )?(?:merg(?:e|ing|ed)|commit(?:ting)?|land(?:ing|s)?|push(?:ing)?)(?: this| the PR| to \w+)?\s*(?:[.!):,;*}"']|-|$)|\b(?:[Rr]emove|REMOVE|[Rr]evert|REVERT|[Uu]ndo|[Dd]elete) (?:(?:this|it|me|these|THIS|ME) )?(?:before|BEFORE|prior to) (?:merg(?:e|ing)|MERG(?:E|ING)|commit(?:ting)?|COMMIT(?:TING)?|land(?:ing)?|push(?:ing)?)\b/;

const beforeMerge: LineRule = {
  id: "before-merge",
  severity: "bug",
  title: "A comment says this must not be merged",
  why: "Its author meant to take it out before now.",
  files: "source code and configuration",
  hint:
    "NOT[ _](?:COMMIT|MERGE|SUBMIT|CHECK)|NOCOMMIT|NOMERGE|DONOT|T COMMIT|(?:TODO|FIXME|XXX|HACK)\\b.{0,80}\\b(?:before|prior|until)|" +
    "(?:[Rr]emove|REMOVE|[Rr]evert|REVERT|[Uu]ndo|[Dd]elete) .{0,10}(?:before|BEFORE|prior)",
  applies: ({ language }) => CODE.includes(language) || language === "config",
  test: (line) => BEFORE_MERGE.test(comment(line)),
};

/** Code in quotes that a value is put into. A value that is run as it is may be meant: a console, a plugin, a test tool. */
const EVALS: { readonly [L in Language]?: RegExp } = {
  javascript: /(?<![\w.$#])eval\s*\(\s*(?:(["'])(?:(?!\1).)*\1\s*\+\s*[\w$(]|[\w$.]+\s*\+\s*["']|`[^`]*\w{2}[^`]*\$\{)/,
  python:
    /(?<![\w.])(?:eval|exec)\s*\(\s*(?:[rb]?f["'](?=[^"']*[^\w."'{}])[^"']*\{\w|[rb]?(["'])(?:(?!\1).)*\1\s*(?:[+%]\s*[\w(]|\.format\()|[\w.]+\s*\+\s*["'])/,
  php: /(?<![\w$>:\\])eval\s*\(\s*(?:(["'])(?:(?!\1).)*\1\s*\.\s*\$|"[^"]*\$\w|\$[\w>[\]'-]+\s*\.\s*["'])/,
};

const dynamicEval: LineRule = {
  id: "eval",
  severity: "risk",
  title: "Code is put together from text and run",
  why: "Whoever controls the value that is put into it controls the program.",
  files: "JavaScript, Python and PHP but tests",
  hint: "\\b(?:eval|exec)\\s*\\(",
  applies: ({ language, test, foreign }) => !test && !foreign && EVALS[language] !== undefined,
  test: (line, { language }) => {
    const isCall = /(?<![\w.$#>:])(?:eval|exec)\s*\(/.test(code(line));
    // A way to the runtime's own import() past a bundler.
    const isImport = /\beval\(\s*["'`](?:import|require)\b/.test(line.text);
    return isCall && !isImport && EVALS[language]?.test(line.text) === true && !isExplained(line);
  },
};

/** Names of errors that are meant to be passed over. */
const IGNORED_NAMES = /^(?:_+\w*|ignored?\w*|expected\w*|unused\w*|swallow\w*)$/i;
/** Lines of a `try` block from which nobody can have thought of all that may fail in it. */
const LONG_TRY_LINES = 5;
/** Lines above a `catch` in which its `try` is looked for. */
const TRY_DISTANCE = 30;

const emptyCatch: LineRule = {
  id: "empty-catch",
  severity: "risk",
  title: "Errors of a long block are swallowed",
  why: "Whatever fails in it fails in silence, also what nobody thought of.",
  files: "source code but tests",
  hint: "\\bcatch\\s*\\(|\\bexcept\\b",
  applies: ({ language, test, foreign }) =>
    !test && !foreign && ["javascript", "java", "csharp", "php", "c", "dart", "python"].includes(language),
  test: (line, { language }) => (language === "python" ? isEmptyExcept(line) : isEmptyCatch(line)) && hasLongTry(line),
};

function isEmptyCatch(line: CheckedLine): boolean {
  const text = code(line);
  // A catch that binds nothing, where it need not, is meant.
  const head = /^\s*\}?\s*catch\s*\(([^()]*)\)\s*\{(.*)$/.exec(text);
  if (!head || isExplained(line)) return false;
  const name = /[\w$]+$/.exec(head[1]!.trim())?.[0] ?? "";
  if (IGNORED_NAMES.test(name)) return false;
  if (/^\s*\}/.test(head[2]!)) return true;
  const below = line.near(1);
  return head[2]!.trim() === "" && below?.added === true && comment(below) === "" && /^\s*\}/.test(code(below));
}

function isEmptyExcept(line: CheckedLine): boolean {
  if (!/^\s*except(?:\s+(?:Base)?Exception(?:\s+as\s+\w+)?)?\s*:\s*$/.test(code(line)) || isExplained(line)) {
    return false;
  }
  const below = line.near(1);
  return below?.added === true && /^\s*(?:pass|\.\.\.)\s*$/.test(code(below)) && comment(below) === "";
}

/** Whether the `try` of a `catch` is shown, has many lines and no comment that explains it. */
function hasLongTry(line: CheckedLine): boolean {
  const indent = /^\s*/.exec(line.text)![0];
  let lines = 0;
  for (let offset = -1; offset >= -TRY_DISTANCE; offset--) {
    const near = line.near(offset);
    if (!near?.parts || /^\s*(?:\}\s*catch|except)\b/.test(near.text)) return false;
    if (near.text.startsWith(indent) && /^try\b/.test(near.text.slice(indent.length))) {
      return lines >= LONG_TRY_LINES && !isExplained(near);
    }
    if (comment(near) !== "") return false;
    if (/[\w]/.test(code(near))) lines++;
  }
  return false;
}

/** Suppressions of everything on a line, without a reason: those that name a rule or say why are meant. */
const SUPPRESSIONS =
  /(?:\/\/|\/\*|<!--|\{\/\*)\s*(?:(?:eslint|tslint|oxlint|stylelint)(?:-|:)disable-(?:next-line|line)\s*(?:\*\/.*)?$|nolint\s*$)/i;

const suppression: LineRule = {
  id: "suppression",
  severity: "nit",
  title: "All checks are switched off for a line without a reason",
  why: "A suppression that names no rule hides also what comes later.",
  files: "JavaScript and Go but tests",
  hint: "(?:eslint|tslint|oxlint|stylelint)(?:-|:)disable-|nolint",
  applies: ({ language, test, foreign }) => !test && !foreign && (language === "javascript" || language === "go"),
  test: (line) => {
    if (!SUPPRESSIONS.test(comment(line))) return false;
    const around = [-3, -2, -1, 1, 2, 3].map((offset) => line.near(offset)?.text ?? "");
    if (around.some((other) => /generated|@preserve|copyright/i.test(other))) return false;
    const above = line.near(-1);
    return !above || comment(above) === "" || code(above).trim() !== "";
  },
};

/** All rules on added lines. */
export const lineRules: readonly LineRule[] = [
  conflictMarker,
  bidiControl,
  invisibleCharacter,
  privateKey,
  beforeMerge,
  focusedTest,
  debuggerStatement,
  tlsOff,
  dynamicEval,
  emptyCatch,
  skippedTest,
  suppression,
];
