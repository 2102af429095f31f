/**
 * Where octavo keeps things: the user's files, and what octavo itself remembers.
 *
 * The XDG base directories, on every system where they are set; else their defaults, and on Windows the two folders
 * that Windows has for this.
 *
 * @module
 */

import { posix, win32 } from "node:path";
import process from "node:process";

/** Environment variables by name. */
export type Env = Record<string, string | undefined>;

/**
 * The folder of the user's own files (`config.json`, `templates/`): `$XDG_CONFIG_HOME/octavo`, by default
 * `~/.config/octavo`, on Windows `%APPDATA%\octavo`. It need not exist.
 *
 * @param platform As in `process.platform`.
 */
export function configDir(env: Env, platform: string = process.platform): string {
  return directory(env, platform, {
    xdg: env["XDG_CONFIG_HOME"],
    home: [".config"],
    windows: env["APPDATA"],
    windowsHome: ["AppData", "Roaming"],
  });
}

/**
 * The folder of what octavo keeps (`conversations/`, `locks/`): `$XDG_STATE_HOME/octavo`, by default
 * `~/.local/state/octavo`, on Windows `%LOCALAPPDATA%\octavo`. It need not exist.
 *
 * @param platform As in `process.platform`.
 */
export function stateDir(env: Env, platform: string = process.platform): string {
  return directory(env, platform, {
    xdg: env["XDG_STATE_HOME"],
    home: [".local", "state"],
    windows: env["LOCALAPPDATA"],
    windowsHome: ["AppData", "Local"],
  });
}

/** A path as it is shown: with `~` for the person's home. */
export function shortPath(path: string, { HOME }: Env): string {
  return HOME && HOME !== "/" && path.startsWith(`${HOME}/`) ? `~${path.slice(HOME.length)}` : path;
}

interface Candidates {
  xdg: string | undefined;
  home: string[];
  windows: string | undefined;
  windowsHome: string[];
}

function directory(env: Env, platform: string, { xdg, home, windows, windowsHome }: Candidates): string {
  const { isAbsolute, join } = platform === "win32" ? win32 : posix;
  // A relative path is to be ignored (XDG Base Directory Specification, "Basics"). It would follow the current folder,
  // which is the repository: files in there must not become the user's settings.
  if (xdg && isAbsolute(xdg)) return join(xdg, "octavo");
  if (platform === "win32") {
    if (windows && isAbsolute(windows)) return join(windows, "octavo");
    return join(absolute(env["USERPROFILE"], isAbsolute) ?? "C:\\", ...windowsHome, "octavo");
  }
  // Without a home the root stands in, as it does for a user whom the system does not know: there is nothing to read in
  // it, and where it cannot be written the review goes on and says so.
  return join(absolute(env["HOME"], isAbsolute) ?? "/", ...home, "octavo");
}

function absolute(path: string | undefined, isAbsolute: (path: string) => boolean): string | undefined {
  return path && isAbsolute(path) ? path : undefined;
}
