import { assertEquals } from "@std/assert";
import { test } from "node:test";
import { configDir, stateDir } from "../paths.ts";

test("configDir() follows XDG where it is absolute, else the home, on Windows the roaming app data", () => {
  const cases: [Record<string, string>, string, string][] = [
    [{ XDG_CONFIG_HOME: "/config", HOME: "/home/a" }, "linux", "/config/octavo"],
    [{ HOME: "/home/a" }, "linux", "/home/a/.config/octavo"],
    [{ HOME: "/Users/a" }, "darwin", "/Users/a/.config/octavo"],
    [{ XDG_CONFIG_HOME: ".", HOME: "/home/a" }, "linux", "/home/a/.config/octavo"],
    [{ APPDATA: "C:\\Users\\a\\AppData\\Roaming" }, "win32", "C:\\Users\\a\\AppData\\Roaming\\octavo"],
    [{ APPDATA: "Roaming", USERPROFILE: "C:\\Users\\a" }, "win32", "C:\\Users\\a\\AppData\\Roaming\\octavo"],
    [{ XDG_CONFIG_HOME: "D:\\c", APPDATA: "C:\\r" }, "win32", "D:\\c\\octavo"],
    [{ APPDATA: "C:\\r", HOME: "/home/a" }, "linux", "/home/a/.config/octavo"],
  ];
  for (const [env, platform, expected] of cases) assertEquals(configDir(env, platform), expected);
});

test("without a home both folders are below the root, never below the current folder", () => {
  for (const env of [{}, { HOME: "" }, { HOME: "." }, { HOME: "x", XDG_CONFIG_HOME: "y", XDG_STATE_HOME: "z" }]) {
    assertEquals(configDir(env, "linux"), "/.config/octavo");
    assertEquals(stateDir(env, "linux"), "/.local/state/octavo");
    assertEquals(stateDir(env, "win32"), "C:\\AppData\\Local\\octavo");
  }
});
