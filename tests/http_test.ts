import { describe, test } from "node:test";
import { createServer, type Server } from "node:http";
import type { Socket } from "node:net";
import { assert, assertEquals, assertInstanceOf, assertRejects, assertStringIncludes } from "@std/assert";
import {
  displayUrl,
  errorDetail,
  errorText,
  HttpError,
  isLoopback,
  MAX_REDIRECTS,
  proxyFor,
  readText,
  request,
  runtimeLimit,
  scrub,
} from "../http.ts";
import { CUT, type Reply, serve, withServer } from "./support_server.ts";

const to = (location: string, status = 302): Reply => ({ status, headers: { location } });

async function failure(promise: Promise<unknown>): Promise<HttpError> {
  const error = await promise.then(() => undefined, (reason: unknown) => reason);
  assertInstanceOf(error, HttpError);
  return error;
}

describe("request()", () => {
  test("sends method, headers and body, and calls itself octavo", async () => {
    await withServer([{ status: 404, body: "né" }], async (server) => {
      const url = `${server.url}/a?b=c`;
      const response = await request({ url, method: "POST", headers: { "x-a": "1" }, body: "grüße", env: {} });
      assertEquals([response.status, await response.text()], [404, "né"]);
      const [got] = server.requests;
      assertEquals([got?.method, got?.path, got?.body], ["POST", "/a?b=c", "grüße"]);
      assertEquals([got?.headers["user-agent"], got?.headers["x-a"]], ["octavo", "1"]);
    });
  });

  test("says of a connection that is refused, closed or to nobody which it is, and to whom", async () => {
    const gone = await serve([]);
    await gone.close();
    const refused = await failure(request({ url: `${gone.url}/a?key=secret`, env: {} }));
    assertEquals(refused.failure, "refused");
    assertEquals(refused.message, `No answer from "${gone.url}/a": the connection is refused`);
    await withServer([{ reset: true }], async (server) => {
      assertEquals((await failure(request({ url: server.url, env: {} }))).failure, "reset");
    });
    assertEquals((await failure(request({ url: "http://nobody.invalid/", env: {} }))).failure, "unknown host");
  });

  test("gives up when the headers take longer than its limit, and not when the body does", async () => {
    const later = Promise.withResolvers<void>();
    const reply = (path: string): Reply =>
      path === "/never" ? { after: new Promise(() => undefined) } : { body: ["a", later.promise, "b"] };
    await withServer(({ path }) => reply(path), async (server) => {
      const response = await request({ url: `${server.url}/later`, env: {}, timeoutMs: 1_000 });
      const error = await failure(request({ url: `${server.url}/never`, env: {}, timeoutMs: 1_000 }));
      assertEquals(error.failure, "timeout");
      assertEquals(await server.requests[1]?.closed, true);
      later.resolve(); // more than a second behind the headers
      assertEquals(await response.text(), "ab");
    });
  });

  test("ends with the signal's reason before, while and after the headers are awaited", async () => {
    const never = new Promise(() => undefined);
    await withServer([{ after: never }, { body: ["a", never] }], async (server) => {
      const reason = new RangeError("stopped");
      await assertRejects(() => request({ url: server.url, env: {}, signal: AbortSignal.abort(reason) }), RangeError);
      assertEquals(server.requests.length, 0);
      const first = new AbortController();
      void server.request(0).then(() => first.abort(reason));
      await assertRejects(() => request({ url: server.url, env: {}, signal: first.signal }), RangeError, "stopped");
      const second = new AbortController();
      const response = await request({ url: server.url, env: {}, signal: second.signal });
      second.abort(reason);
      await assertRejects(() => response.text());
      assertEquals(await server.requests[1]?.closed, true);
    });
  });
});

describe("readText()", () => {
  const never = new Promise(() => undefined);
  const read = async (body: Reply["body"], limits: { maxChars: number; timeoutMs: number; signal?: AbortSignal }) =>
    await withServer([body === undefined ? {} : { body }], async (server) => {
      return await readText(await request({ url: server.url, env: {} }), limits);
    });

  test("gives a text, as much of it as may be", async () => {
    const bytes = new TextEncoder().encode("grüße");
    assertEquals(await read([bytes.slice(0, 3), bytes.slice(3)], { maxChars: 100, timeoutMs: 20_000 }), "grüße");
    assertEquals(await read(["x".repeat(10), never], { maxChars: 10, timeoutMs: 20_000 }), "x".repeat(10));
    assertEquals(await read(undefined, { maxChars: 10, timeoutMs: 20_000 }), "");
  });

  test("gives what came in time, or before the connection was cut", async () => {
    assertEquals(await read(["so far", never], { maxChars: 100, timeoutMs: 300 }), "so far");
    assert("so far".startsWith(await read(["so far", CUT], { maxChars: 100, timeoutMs: 20_000 }).catch(() => "")));
  });

  test("ends with the signal's reason", async () => {
    await withServer([{ body: ["a", never] }], async (server) => {
      const controller = new AbortController();
      const response = await request({ url: server.url, env: {}, signal: controller.signal });
      const reading = readText(response, { maxChars: 100, timeoutMs: 20_000, signal: controller.signal });
      controller.abort(new RangeError("stopped"));
      await assertRejects(() => reading, RangeError, "stopped");
    });
  });
});

describe("a redirect", () => {
  const headers = { authorization: "Bearer k", "x-api-key": "k", cookie: "c", "x-other": "o" };
  const secrets = (
    got: Record<string, string> | undefined,
  ) => [got?.authorization, got?.["x-api-key"], got?.cookie, got?.["x-other"]];

  test("within the origin is followed with the credentials", async () => {
    for (const status of [301, 302, 303, 307, 308]) {
      await withServer([to("/b?c", status), { body: "there" }], async (server) => {
        const response = await request({ url: `${server.url}/a`, headers, credentials: ["x-api-key"], env: {} });
        assertEquals(await response.text(), "there");
        assertEquals(server.requests[1]?.path, "/b?c");
        assertEquals(secrets(server.requests[1]?.headers), ["Bearer k", "k", "c", "o"]);
      });
    }
  });

  test("to another origin is followed without the credentials, and they do not come back", async () => {
    await withServer([{ status: 307, headers: {} }], async (first) => {
      await withServer([to(`${first.url}/back`)], async (second) => {
        first.requests.length = 0;
        const home = await serve([to(`${second.url}/away`)]);
        await request({ url: `${home.url}/a`, headers, credentials: ["X-API-Key"], env: {} });
        assertEquals(secrets(home.requests[0]?.headers), ["Bearer k", "k", "c", "o"]);
        assertEquals(secrets(second.requests[0]?.headers), [undefined, undefined, undefined, "o"]);
        assertEquals(secrets(first.requests[0]?.headers), [undefined, undefined, undefined, "o"]);
        await home.close();
      });
    });
  });

  test("of a POST is followed within the origin where the status keeps the method, with the body", async () => {
    for (const status of [307, 308]) {
      await withServer([to("/b", status), { body: "there" }], async (server) => {
        await request({ url: `${server.url}/a`, method: "POST", body: "text", headers, env: {} });
        const second = server.requests[1];
        assertEquals([second?.method, second?.body, second?.headers.authorization], ["POST", "text", "Bearer k"]);
      });
    }
  });

  test("of a POST is not followed to another origin, nor where the status would drop the body", async () => {
    await withServer([], async (other) => {
      for (
        const [location, status] of [[`${other.url}/b`, 307], [`${other.url}/b`, 302], ["/b", 301], [
          "/b",
          303,
        ]] as const
      ) {
        await withServer([to(location, status)], async (server) => {
          const error = await failure(request({ url: `${server.url}/a`, method: "POST", body: "text", env: {} }));
          assertEquals(error.failure, "redirect");
          assertStringIncludes(error.message, new URL(location, server.url).href);
        });
      }
    });
  });

  test("is not followed for ever, nor to what is no web address", async () => {
    await withServer(() => to("/again"), async (server) => {
      assertEquals((await failure(request({ url: server.url, env: {} }))).failure, "redirect");
      assertEquals(server.requests.length, MAX_REDIRECTS + 1);
    });
    for (const location of ["file:///etc/passwd", "http://user:pass@127.0.0.1/", "http://"]) {
      await withServer([to(location)], async (server) => {
        assertEquals((await failure(request({ url: server.url, env: {} }))).failure, "redirect");
      });
    }
  });
});

/** A proxy that writes down what it is asked, and answers itself. */
async function recordingProxy(): Promise<{ url: string; asked: string[]; close(): Promise<void> }> {
  const asked: string[] = [];
  const server: Server = createServer((incoming, response) => {
    asked.push(`${incoming.method} ${incoming.url} ${incoming.headers["proxy-authorization"] ?? ""}`.trim());
    response.end("from the proxy");
  });
  server.on("connect", (incoming, socket: Socket) => {
    asked.push(`CONNECT ${incoming.url} ${incoming.headers["proxy-authorization"] ?? ""}`.trim());
    socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`,
    asked,
    close: () => new Promise((resolve) => (server.close(() => resolve()), server.closeAllConnections())),
  };
}

describe("a proxy", () => {
  test("of the environment takes what is not loopback, with its password", async () => {
    const proxy = await recordingProxy();
    const withPassword = proxy.url.replace("//", "//me:pw@");
    const response = await request({ url: "http://somewhere.invalid/a?b", env: { HTTP_PROXY: withPassword } });
    assertEquals(await response.text(), "from the proxy");
    const error = await failure(request({ url: "https://somewhere.invalid/a", env: { https_proxy: withPassword } }));
    assertStringIncludes(error.message, `through the proxy "${proxy.url}"`);
    assert(!error.message.includes("pw"));
    const basic = `Basic ${btoa("me:pw")}`;
    assertEquals(proxy.asked, [
      `GET http://somewhere.invalid/a?b ${basic}`,
      ...proxy.asked.slice(1).map(() => `CONNECT somewhere.invalid:443 ${basic}`),
    ]);
    assert(proxy.asked.length >= 2);
    await proxy.close();
  });

  test("is not used for loopback, whatever the environment says, also that of the process", async () => {
    const proxy = await recordingProxy();
    const names = ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];
    const env = Object.fromEntries(names.map((name) => [name, proxy.url]));
    const before = names.map((name) => process.env[name]);
    Object.assign(process.env, env);
    try {
      await withServer(() => ({ body: "direct" }), async (server) => {
        for (const host of ["127.0.0.1", "localhost"]) {
          const response = await request({ url: `http://${host}:${server.port}/`, env });
          assertEquals(await response.text(), "direct");
          assertEquals(await (await request({ url: `http://${host}:${server.port}/`, env: {} })).text(), "direct");
        }
        assertEquals(server.requests.map((got) => got.path), ["/", "/", "/", "/"]);
      });
      assertEquals(names.map((name) => process.env[name]), names.map(() => proxy.url));
    } finally {
      names.forEach((name, at) => {
        const value = before[at];
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      });
    }
    assertEquals(proxy.asked, []);
    await proxy.close();
  });

  test("is not used where the request forbids it", async () => {
    const proxy = await recordingProxy();
    const env = { HTTP_PROXY: proxy.url };
    assertEquals(
      (await failure(request({ url: "http://nobody.invalid/", env, proxy: false }))).failure,
      "unknown host",
    );
    assertEquals(proxy.asked, []);
    await proxy.close();
  });

  const cases: [url: string, env: Record<string, string>, proxy: string | undefined][] = [
    ["https://a.example/", { HTTPS_PROXY: "http://p:1" }, "http://p:1"],
    ["https://a.example/", { https_proxy: "http://low:1", HTTPS_PROXY: "http://up:1" }, "http://low:1"],
    ["https://a.example/", { HTTP_PROXY: "http://p:1" }, undefined],
    ["http://a.example/", { HTTP_PROXY: "p:1" }, "http://p:1"],
    ["http://a.example/", { ALL_PROXY: "http://p:1", HTTP_PROXY: " " }, "http://p:1"],
    ["http://a.example/", { HTTP_PROXY: "http://p:1", NO_PROXY: "*" }, undefined],
    ["http://a.example/", { HTTP_PROXY: "http://p:1", NO_PROXY: "b.example, a.example" }, undefined],
    ["http://x.a.example/", { HTTP_PROXY: "http://p:1", no_proxy: ".a.example" }, undefined],
    ["http://x.a.example/", { HTTP_PROXY: "http://p:1", no_proxy: "*.a.example" }, undefined],
    ["http://xa.example/", { HTTP_PROXY: "http://p:1", no_proxy: "a.example" }, "http://p:1"],
    ["http://a.example:81/", { HTTP_PROXY: "http://p:1", NO_PROXY: "a.example:82" }, "http://p:1"],
    ["https://a.example/", { HTTPS_PROXY: "http://p:1", NO_PROXY: "a.example:443" }, undefined],
    ["http://10.1.2.3/", { HTTP_PROXY: "http://p:1", NO_PROXY: "10.0.0.0/8" }, undefined],
    ["http://11.1.2.3/", { HTTP_PROXY: "http://p:1", NO_PROXY: "10.0.0.0/8" }, "http://p:1"],
    ["http://[fe80::1]:80/", { HTTP_PROXY: "http://p:1", NO_PROXY: "fe80::1" }, undefined],
    ["http://[fe80::1]:81/", { HTTP_PROXY: "http://p:1", NO_PROXY: "[fe80::1]:81" }, undefined],
    ["http://127.0.0.1:8080/", { HTTP_PROXY: "http://p:1" }, undefined],
  ];
  for (const [url, env, proxy] of cases) {
    test(`for ${url} with ${JSON.stringify(env)} is ${proxy ?? "none"}`, () => assertEquals(proxyFor(url, env), proxy));
  }
});

test("isLoopback() knows the addresses of this machine in all their forms, and no others", () => {
  const own = ["127.0.0.1", "127.1", "127.255.0.9", "0x7f.0.0.1", "[::1]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]"];
  for (const host of [...own, "localhost", "LOCALHOST", "localhost."]) assert(isLoopback(`http://${host}:1/a`), host);
  const others = [
    "128.0.0.1",
    "127.0.0.1.example.org",
    "localhost.example.org",
    "[::2]",
    "[::ffff:128.0.0.1]",
    "example.org",
  ];
  for (const host of [...others, "0.0.0.0", "10.0.0.1", "192.168.0.1"]) assert(!isLoopback(`http://${host}/`), host);
  assert(isLoopback(new URL("http://127.0.0.1/")));
  assert(!isLoopback("no address"));
});

describe("errorText()", () => {
  const cases: [name: string, body: string, text: string][] = [
    ["{error: {message}}", '{"error": {"message": "Nope", "type": "x", "code": 4}}', "Nope"],
    ["{error: text}", '{"error": "Nope"}', "Nope"],
    ["[{error}]", '[{"error": {"code": 400, "message": "Nope", "status": "INVALID"}}]', "Nope"],
    ["{message}", '{"object": "error", "message": "Nope"}', "Nope"],
    ["{detail: text}", '{"detail": "Nope"}', "Nope"],
    ["{detail: [{msg}]}", '{"detail": [{"loc": ["body"], "msg": "Nope"}]}', "Nope"],
    ["{errors: [text]}", '{"errors": ["Nope"]}', "Nope"],
    ["{error: {code}} without a message", '{"error": {"code": "no_such_thing"}}', "no_such_thing"],
    [
      "OpenRouter's metadata",
      '{"error": {"message": "Provider returned error", "metadata": {"raw": "{\\"error\\": {\\"message\\": \\"Nope\\"}}"}}}',
      "Provider returned error: Nope",
    ],
    ["plain text over several lines", "Nope,\r\n  not\there\n", "Nope, not here"],
    ["a page with a title", "<!DOCTYPE html><html><head><title>\n502 Bad\nGateway </title></head>", "502 Bad Gateway"],
    ["a page without a title", "<h1>Nope</h1><script>x()</script> <p>not here</p>", "Nope not here"],
    ["terminal escapes and marks of direction", "\u001b[31mNo\u001b[0mpe\u0007\u202e\u2066 here\u009b", "Nope here"],
    ["JSON without words", "{}", ""],
    ["nothing", "", ""],
  ];
  for (const [name, body, text] of cases) {
    test(`reads ${name}`, () => {
      assertEquals(errorDetail(body), text);
      assertEquals(errorText(418, body), text === "" ? "HTTP 418" : `HTTP 418: ${text}`);
    });
  }

  test("is at most 200 characters, cut between characters", () => {
    for (const body of ["x".repeat(5_000), JSON.stringify({ error: "😀".repeat(500) })]) {
      const text = errorText(500, body);
      assert(text.length <= 200 && text.length > 190, String(text.length));
      assert(text.endsWith("…") && text.isWellFormed());
    }
  });
});

test("displayUrl() leaves out name, password, query and fragment", () => {
  assertEquals(displayUrl("https://me:pw@a.example:8080/v1/?key=k#f"), "https://a.example:8080/v1");
  assertEquals(displayUrl("a b"), "an address that is none");
});

test("scrub() takes every secret out of a text", () => {
  assertEquals(scrub("a key1 b key2 c key1", ["key1", undefined, "", "key2", "a"]), "a [key] b [key] c [key]");
});

test("runtimeLimit() has nothing to say where there is no limit but ours", async () => {
  assertEquals(await runtimeLimit({}), undefined);
});
