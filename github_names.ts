/**
 * The names that repositories and pull requests on GitHub go by (remote URLs, web addresses, `OWNER/REPO#NUMBER`), and
 * what GitHub's API and the events of its workflows say of a pull request.
 *
 * Pure: what is not one of these is `undefined`, and nothing is looked up.
 *
 * @module
 */

/** A repository, and the host it is on. */
export interface RepositoryName {
  /** Lower case, with the port where a web address names one that is not the scheme's own. */
  host: string;
  /** A user or an organisation. */
  owner: string;
  /** Without `.git`. */
  repo: string;
}

/** A repository as people type it: the host may be left to the settings. */
export type RepositoryReference = Omit<RepositoryName, "host"> & Partial<Pick<RepositoryName, "host">>;

/** A pull request as people type it: by its number alone it is one of the repository one is in. */
export interface PullReference extends Partial<RepositoryName> {
  /** From 1. */
  number: number;
}

const OWNER = /^[a-z0-9][a-z0-9_-]*$/i;
const REPO = /^[a-z0-9._-]+$/i;
const HOST = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::\d{1,5})?$/i;
/** A number from 1, of at most 9 digits. */
const NUMBER = /^[1-9]\d{0,8}$/;

/** Other names of github.com: its SSH server for networks that let only port 443 through, its web server, its API. */
const ALIASES: readonly string[] = ["ssh.github.com", "www.github.com", "api.github.com"];

/** Schemes of remotes whose port is that of another service than the web. */
const NOT_WEB = ["ssh:", "git+ssh:", "ssh+git:", "git:"];

/** Whether a host is GitHub's own: github.com, or a company's name below ghe.com. */
export function isGitHubs(host: string): boolean {
  return host === "github.com" || /^[a-z0-9-]+\.ghe\.com$/.test(host);
}

/**
 * The repository that a remote's URL names: `https://H/o/r`, `git@H:o/r.git`, `ssh://git@H:22/o/r`, and their like, with
 * or without `.git`, a slash at the end, a name and a password. `undefined` for folders and for what is no `OWNER/REPO`.
 */
export function parseRemote(url: string): RepositoryName | undefined {
  const text = url.trim();
  if (!isPlain(text)) return undefined;
  // user@host:path, as git takes it: a colon before any slash. One letter before it is a drive of Windows.
  const scp = /^(?:[^@/:]+@)?([a-z0-9.-]{2,}):(?!\/\/)(.+)$/i.exec(text);
  if (scp && !text.includes("://")) return repositoryName(scp[1], scp[2]);
  const parsed = URL.parse(text);
  if (!parsed) return undefined;
  if (NOT_WEB.includes(parsed.protocol)) return repositoryName(parsed.hostname, parsed.pathname);
  return isWeb(parsed) ? repositoryName(parsed.host, parsed.pathname) : undefined;
}

/** The repository that `OWNER/REPO`, `HOST/OWNER/REPO` or a URL names. */
export function parseRepository(text: string): RepositoryReference | undefined {
  const remote = parseRemote(text);
  if (remote) return remote;
  const [first, second, third, ...more] = text.trim().split("/");
  if (more.length > 0) return undefined;
  return third === undefined ? reference(first, second) : repositoryName(first, `${second}/${third}`);
}

/**
 * The pull request that is meant by `12`, `#12`, `OWNER/REPO#12`, `HOST/OWNER/REPO#12` or its address in the browser
 * (`/pull/12`, with whatever follows, such as `/files`) or in the API, on any host.
 */
export function parsePullReference(text: string): PullReference | undefined {
  const trimmed = text.trim();
  if (!isPlain(trimmed)) return undefined;
  const [name = "", number = "", ...more] = trimmed.split("#");
  if (more.length === 0 && NUMBER.test(number)) {
    if (name === "") return { number: Number(number) };
    const repository = name.includes("://") ? undefined : parseRepository(name);
    if (repository) return { ...repository, number: Number(number) };
  }
  if (NUMBER.test(trimmed)) return { number: Number(trimmed) };
  return parsePullUrl(trimmed);
}

function parsePullUrl(text: string): PullReference | undefined {
  const url = URL.parse(text.includes("://") ? text : `https://${text}`);
  if (!url || !isWeb(url)) return undefined;
  const [, ...path] = url.pathname.split("/");
  const api = apiPath(url.hostname, path);
  const [owner, repo, kind, last = ""] = api ?? path;
  if (kind !== (api ? "pulls" : "pull")) return undefined;
  const number = last.replace(/\.(?:diff|patch)$/, "");
  const host = api ? url.host.replace(/^api\.(?=[^.]+\.ghe\.com$)/, "") : url.host;
  const repository = repositoryName(host, `${owner}/${repo}`);
  return repository && NUMBER.test(number) ? { ...repository, number: Number(number) } : undefined;
}

/** What follows `repos/` in an address of the API; `undefined` for any other address. */
function apiPath(hostname: string, path: readonly string[]): readonly string[] | undefined {
  if (hostname === "api.github.com" || /^api\.[^.]+\.ghe\.com$/.test(hostname)) {
    return path[0] === "repos" ? path.slice(1) : undefined;
  }
  return path[0] === "api" && path[1] === "v3" && path[2] === "repos" ? path.slice(3) : undefined;
}

function repositoryName(host = "", path = ""): RepositoryName | undefined {
  const [owner, repo, ...more] = path.replace(/^\//, "").replace(/\/$/, "").split("/");
  const name = more.length === 0 ? reference(owner, repo) : undefined;
  if (!name || !HOST.test(host)) return undefined;
  const lower = host.toLowerCase();
  return { host: ALIASES.includes(lower) ? "github.com" : lower, ...name };
}

function reference(owner = "", repo = ""): RepositoryReference | undefined {
  const name = repo.replace(/\.git$/, "");
  // "." and ".." would climb in the path of the API.
  return OWNER.test(owner) && REPO.test(name) && !/^\.+$/.test(name) ? { owner, repo: name } : undefined;
}

function isWeb(url: URL): boolean {
  return url.protocol === "https:" || url.protocol === "http:";
}

/** Whether a text has nothing in it that programs read differently: URL parsing drops line breaks and turns `\` to `/`. */
function isPlain(text: string): boolean {
  return !/[\s\\\p{Cc}]/u.test(text);
}

/** A pull request. */
export interface PullRequest extends RepositoryName {
  /** Its number in the repository. */
  number: number;
  /** Its title; `OWNER/REPO#NUMBER` where only that is known. */
  title: string;
  /** Login of who opened it. */
  author?: string;
  /** Whether it is a draft. */
  draft?: boolean;
  /** Name of the branch it is to go into. */
  base?: string;
  /** Name of the branch it comes from. */
  head?: string;
  /** ISO 8601, UTC. */
  updatedAt?: string;
}

/** `OWNER/REPO#NUMBER`: the title of a pull request of which nothing else is known. */
export function pullName({ owner, repo, number }: Pick<PullRequest, "owner" | "repo" | "number">): string {
  return `${owner}/${repo}#${number}`;
}

/** What GitHub says of a pull request. */
export interface ReadPull {
  /** The pull request. */
  pull: PullRequest;
  /** Whether it is neither merged nor closed. */
  open: boolean;
  /** The ref of the branch it is to go into. */
  baseRef: string | undefined;
  /** Full hash of that branch, as it was when the pull request was last updated. */
  baseHash: string | undefined;
  /** Full hash of its last commit. */
  headHash: string | undefined;
  /** How many files it changes. */
  files: number | undefined;
}

/** Narrows a pull request of the API or of an event; `undefined` when it has no number. */
export function readPull(value: unknown, { host, owner, repo }: RepositoryName): ReadPull | undefined {
  const row = fields(value);
  const number = row["number"];
  if (typeof number !== "number" || !Number.isSafeInteger(number) || number < 1) return undefined;
  const [base, head] = [fields(row["base"]), fields(row["head"])];
  const optional = {
    ...field("author", text(fields(row["user"])["login"])),
    ...field("draft", typeof row["draft"] === "boolean" ? row["draft"] : undefined),
    ...field("base", text(base["ref"])),
    ...field("head", text(head["ref"])),
    ...field("updatedAt", text(row["updated_at"])),
  };
  const title = text(row["title"]) ?? pullName({ owner, repo, number });
  return {
    pull: { host, owner, repo, number, title, ...optional },
    open: row["state"] === "open",
    baseRef: ref(base["ref"]),
    baseHash: hash(base["sha"]),
    headHash: hash(head["sha"]),
    files: typeof row["changed_files"] === "number" ? row["changed_files"] : undefined,
  };
}

/** The fields of a JSON object; none of anything else. */
export function fields(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** A full hash: it goes to git. */
function hash(value: unknown): string | undefined {
  return typeof value === "string" && /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(value) ? value : undefined;
}

/** The full name of a branch; `undefined` where git would read more than a name in it (git-check-ref-format). */
function ref(value: unknown): string | undefined {
  return typeof value === "string" && /^[^\s\p{Cc}:^~?*[\\]+$/u.test(value) ? `refs/heads/${value}` : undefined;
}

/** A field, if there is a value for it. */
function field<Name extends string, Value>(name: Name, value: Value | undefined): { [K in Name]?: Value } {
  const present: { [K in Name]?: Value } = {};
  if (value !== undefined) present[name] = value;
  return present;
}
