import { describe, test } from "node:test";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { assert, assertEquals, assertInstanceOf, assertStringIncludes } from "@std/assert";
import { authHeaders } from "../endpoint.ts";
import { ProviderError, UsageError } from "../errors.ts";
import { PRESETS } from "../presets.ts";
import { describeProviders } from "../provider_report.ts";
import { BUILTIN, contextWindow, findModel, type Model, type ModelSettings } from "../providers.ts";
import { withFolder } from "./support.ts";
import { json, type RecordedRequest, type Reply, serve, type TestServer, withServer } from "./support_server.ts";

/** Milliseconds in which a local server answers on any machine; octavo itself waits 300. */
const PATIENT_MS = 20_000;

/** Ports on which nobody listens, for every local server that octavo looks for. */
async function deadPorts(): Promise<Record<string, number>> {
  const server = await serve([]);
  await server.close();
  return Object.fromEntries(PRESETS.filter((preset) => preset.port).map((preset) => [preset.id, server.port]));
}

const dead = deadPorts();

/** The model that settings choose. Nothing runs on this machine, unless `ports` says so. */
async function find(settings: Partial<ModelSettings>): Promise<Model> {
  const ports = { ...await dead, ...settings.ports };
  const found = await findModel({ env: {}, probeMs: PATIENT_MS, ...settings, ports });
  if (found === BUILTIN) throw new Error("no model was found");
  return found;
}

async function refusal(settings: Partial<ModelSettings>): Promise<UsageError> {
  const error = await find(settings).then((model) => new Error(`found ${model.baseUrl}`), (reason: unknown) => reason);
  assertInstanceOf(error, UsageError, String(error));
  return error;
}

const ollamaTags = json({
  models: [{ name: "nomic-embed-text:latest" }, { name: "qwen2.5-coder:7b" }, { name: "llama3.2:latest" }],
});
const openaiList = json({
  object: "list",
  data: [{ id: "text-embedding-3" }, { id: "qwen/qwen3-coder" }, { id: "phi" }],
});

describe("PROVIDER/NAME", () => {
  const cases: [model: string, provider: string, name: string, protocol: string, baseUrl: string][] = [
    ["ollama/qwen2.5-coder:7b", "ollama", "qwen2.5-coder:7b", "ollama", "http://127.0.0.1:11434"],
    [
      "ollama/hf.co/bartowski/Llama-3.2-3B:Q4",
      "ollama",
      "hf.co/bartowski/Llama-3.2-3B:Q4",
      "ollama",
      "http://127.0.0.1:11434",
    ],
    ["lmstudio/qwen/qwen3-coder", "lmstudio", "qwen/qwen3-coder", "openai", "http://127.0.0.1:1234/v1"],
    ["llamacpp/x", "llamacpp", "x", "openai", "http://127.0.0.1:8080/v1"],
    ["localai/x", "localai", "x", "openai", "http://127.0.0.1:8080/v1"],
    ["vllm/Qwen/Qwen2.5", "vllm", "Qwen/Qwen2.5", "openai", "http://127.0.0.1:8000/v1"],
    ["jan/x", "jan", "x", "openai", "http://127.0.0.1:1337/v1"],
    ["gpt4all/x", "gpt4all", "x", "openai", "http://127.0.0.1:4891/v1"],
    ["textgen/x", "textgen", "x", "openai", "http://127.0.0.1:5000/v1"],
    ["koboldcpp/x", "koboldcpp", "x", "openai", "http://127.0.0.1:5001/v1"],
    ["litellm/x", "litellm", "x", "openai", "http://127.0.0.1:4000/v1"],
    ["openai/gpt-5", "openai", "gpt-5", "openai", "https://api.openai.com/v1"],
    ["anthropic/claude-x", "anthropic", "claude-x", "anthropic", "https://api.anthropic.com"],
    [
      "openrouter/qwen/qwen3-coder:free",
      "openrouter",
      "qwen/qwen3-coder:free",
      "openai",
      "https://openrouter.ai/api/v1",
    ],
    ["groq/x", "groq", "x", "openai", "https://api.groq.com/openai/v1"],
    ["deepseek/x", "deepseek", "x", "openai", "https://api.deepseek.com/v1"],
    ["mistral/x", "mistral", "x", "openai", "https://api.mistral.ai/v1"],
    ["gemini/x", "gemini", "x", "openai", "https://generativelanguage.googleapis.com/v1beta/openai"],
  ];
  for (const [model, provider, name, protocol, baseUrl] of cases) {
    test(`${model} goes to ${baseUrl}, and asks nobody`, async () => {
      const key = `${provider.toUpperCase()}_API_KEY`;
      const found = await findModel({ model, modelFrom: "--model", env: { [key]: "k" } });
      assert(found !== BUILTIN);
      assertEquals([found.provider, found.name, found.protocol, found.baseUrl], [provider, name, protocol, baseUrl]);
      assertEquals([found.from, found.local], ["--model", baseUrl.startsWith("http://127.0.0.1")]);
    });
  }

  test("of Azure takes endpoint and key of its variables, and sends the key in its own header", async () => {
    const env = { AZURE_OPENAI_ENDPOINT: "https://mine.openai.azure.com/", AZURE_OPENAI_API_KEY: "k" };
    const found = await find({ model: "azure/deployment", env });
    assertEquals(found.baseUrl, "https://mine.openai.azure.com/openai/v1");
    assertEquals(authHeaders(found), { "api-key": "k" });
    assertStringIncludes((await refusal({ model: "azure/x", env: {} })).hint ?? "", "AZURE_OPENAI_ENDPOINT");
  });

  test("of an unknown provider is answered with the nearest one", async () => {
    for (
      const [model, hint] of [["opnai/gpt-5", "openai/gpt-5"], ["olama/a/b", "ollama/a/b"], [
        "antropic/x",
        "anthropic/x",
      ]]
    ) {
      const error = await refusal({ model: model ?? "" });
      assertStringIncludes(error.message, `Unknown provider "${model?.split("/")[0]}"`);
      assertEquals(error.hint, `did you mean ${hint}?`);
    }
    assertStringIncludes((await refusal({ model: "qwen/qwen3" })).hint ?? "", "openrouter/qwen/qwen3");
  });

  test("builtin is no provider's, and asks nobody", async () => {
    assertEquals(
      await findModel({ model: "builtin", env: { OPENAI_API_KEY: "k" }, baseUrl: "http://x.invalid" }),
      BUILTIN,
    );
  });
});

describe("a base URL", () => {
  test("takes any name, with slashes too, for its model", async () => {
    const found = await find({ baseUrl: "http://127.0.0.1:9", baseUrlFrom: "--base-url", model: "Qwen/Qwen2.5:7b" });
    assertEquals([found.provider, found.name, found.baseUrl], ["custom", "Qwen/Qwen2.5:7b", "http://127.0.0.1:9/v1"]);
    assertEquals(found.from, "--base-url");
  });

  test("without a model takes the first that is served and answers chats", async () => {
    await withServer([openaiList], async (server) => {
      const found = await find({ baseUrl: server.url });
      assertEquals(found.name, "qwen/qwen3-coder");
      assertEquals(server.requests.map((request) => request.path), ["/v1/models"]);
    });
  });

  test("that is a preset's own is that preset, with its protocol and key", async () => {
    const ollama = await find({ baseUrl: "http://127.0.0.1:11999/v1", model: "qwen", ports: { ollama: 11999 } });
    assertEquals([ollama.provider, ollama.protocol, ollama.baseUrl], ["ollama", "ollama", "http://127.0.0.1:11999"]);
    const env = { ANTHROPIC_API_KEY: "k" };
    const claude = await find({ baseUrl: "https://api.anthropic.com/v1", model: "claude-x", env });
    assertEquals([claude.provider, claude.protocol, claude.apiKey], ["anthropic", "anthropic", "k"]);
  });

  test("gives way to a provider that is named closer to the command line", async () => {
    const settings = { baseUrl: "http://127.0.0.1:9/v1", baseUrlFrom: "OCTAVO_BASE_URL", model: "ollama/x" };
    const closer = await find({ ...settings, modelFrom: "--model", ports: { ollama: 77 } });
    assertEquals(closer.baseUrl, "http://127.0.0.1:77");
    const same = await find({ ...settings, modelFrom: "OCTAVO_MODEL", ports: { ollama: 77 } });
    assertEquals([same.baseUrl, same.protocol], ["http://127.0.0.1:9", "ollama"]);
  });
});

describe("OLLAMA_HOST", () => {
  test("chooses Ollama there, and needs no key", async () => {
    await withServer([ollamaTags], async (server) => {
      const found = await find({ env: { OLLAMA_HOST: `127.0.0.1:${server.port}` } });
      assertEquals([found.provider, found.name, found.from], ["ollama", "qwen2.5-coder:7b", "OLLAMA_HOST"]);
    });
    assertEquals((await find({ model: "ollama/x", env: { OLLAMA_HOST: "gpu-box" } })).baseUrl, "http://gpu-box:11434");
  });
});

describe("the order of choice", () => {
  const env: Record<string, string> = {
    OPENAI_API_KEY: "1",
    ANTHROPIC_API_KEY: "2",
    OPENROUTER_API_KEY: "3",
    GEMINI_API_KEY: "4",
    GROQ_API_KEY: "5",
    DEEPSEEK_API_KEY: "6",
    MISTRAL_API_KEY: "7",
  };

  test("among the keys of the environment is that of the list", async () => {
    const left = { ...env };
    for (const [key, value] of Object.entries(env)) {
      const found = await find({ env: left });
      assertEquals([found.apiKey, found.from, found.apiKeyFrom], [value, key, key]);
      assertEquals(found.provider, key.replace("_API_KEY", "").toLowerCase());
      assert(found.name !== "");
      delete left[key];
    }
  });

  test("puts what the settings name before the environment", async () => {
    assertEquals((await find({ env, model: "groq/x" })).provider, "groq");
    assertEquals((await find({ env, baseUrl: "http://127.0.0.1:9", model: "x" })).provider, "custom");
    const providers = { mine: { baseUrl: "http://127.0.0.1:9/v1" } };
    assertEquals((await find({ env, providers, model: "mine/x" })).baseUrl, "http://127.0.0.1:9/v1");
  });

  test("puts the user file's endpoint before the environment", async () => {
    await withServer([openaiList], async (server) => {
      const found = await find({ env, providers: { groq: { headers: {} }, mine: { baseUrl: server.url } } });
      assertEquals([found.provider, found.name], ["mine", "qwen/qwen3-coder"]);
    });
  });

  test("puts the environment before a server that is found running", async () => {
    await withServer([], async (server) => {
      assertEquals((await find({ env: { GROQ_API_KEY: "k" }, ports: { ollama: server.port } })).provider, "groq");
    });
  });

  test("takes OPENAI_BASE_URL with the first model that is served there", async () => {
    await withServer([openaiList], async (server) => {
      const found = await find({ env: { OPENAI_BASE_URL: server.url, OPENAI_API_KEY: "k" } });
      assertEquals([found.provider, found.name, found.apiKey], ["openai", "qwen/qwen3-coder", "k"]);
      assertEquals(server.requests[0]?.headers.authorization, "Bearer k");
    });
  });

  test("takes a bare name to the first provider of the environment", async () => {
    assertEquals((await find({ env: { GEMINI_API_KEY: "k" }, model: "gemini-x" })).name, "gemini-x");
    const named = await find({ env: { OPENAI_BASE_URL: "http://127.0.0.1:9" }, model: "Qwen/Qwen2.5" });
    assertEquals([named.provider, named.name], ["openai", "Qwen/Qwen2.5"]);
  });

  test("takes a bare provider's default, or its first model", async () => {
    assertEquals(
      (await find({ env, model: "anthropic" })).name,
      (await find({ env: { ANTHROPIC_API_KEY: "k" } })).name,
    );
    await withServer([ollamaTags], async (server) => {
      assertEquals((await find({ model: "ollama", ports: { ollama: server.port } })).name, "qwen2.5-coder:7b");
    });
  });

  test("ends with builtin when there is nothing", async () => {
    assertEquals(await findModel({ env: {}, ports: await dead }), BUILTIN);
  });
});

describe("a provider that was asked for and does not answer is an error", () => {
  test("never builtin", async () => {
    const port = (await dead).ollama ?? 0;
    for (
      const settings of [{ model: "ollama" }, { baseUrl: `http://127.0.0.1:${port}` }, {
        env: { OLLAMA_HOST: `:${port}` },
      }]
    ) {
      const error = await find(settings).then(() => undefined, (reason: unknown) => reason);
      assertInstanceOf(error, ProviderError);
      assertStringIncludes(error.message, `127.0.0.1:${port}`);
    }
  });

  test("that says how to start it", async () => {
    const error = await find({ model: "ollama" }).then(() => undefined, (reason: unknown) => reason);
    assertInstanceOf(error, ProviderError);
    assertStringIncludes(error.hint ?? "", "ollama serve");
  });

  test("also where it answers with something else, with nothing, or with no model", async () => {
    for (const reply of [{ body: "<h1>Hi</h1>" }, json({ data: "no" }), { status: 500 }, json({ data: [] })]) {
      await withServer([reply], async (server) => {
        assertInstanceOf(
          await find({ baseUrl: server.url }).then(() => undefined, (reason: unknown) => reason),
          ProviderError,
        );
      });
    }
  });
});

describe("a key goes only where it belongs:", () => {
  const env = { OPENAI_API_KEY: "openai-key", ANTHROPIC_API_KEY: "anthropic-key" };
  const settings = { env, apiKey: "octavo-key" };

  test("OPENAI_API_KEY to OpenAI's own endpoint", async () => {
    assertEquals((await find({ env, model: "openai/x" })).apiKey, "openai-key");
    assertEquals((await find({ env, baseUrl: "https://api.openai.com/v1", model: "x" })).apiKey, "openai-key");
  });

  test("OPENAI_API_KEY to OPENAI_BASE_URL", async () => {
    const own = { ...env, OPENAI_BASE_URL: "https://gateway.example/v1" };
    const found = await find({ env: own, model: "openai/x" });
    assertEquals([found.baseUrl, found.apiKey], ["https://gateway.example/v1", "openai-key"]);
  });

  test("OPENAI_API_KEY to no other base URL, whatever the provider is called", async () => {
    for (const model of ["x", "openai/x"]) {
      const error = await refusal({ env, baseUrl: "https://gateway.example/v1", model });
      assertStringIncludes(error.message, "https://gateway.example/v1");
      assertEquals(error.hint, "set OCTAVO_API_KEY");
      assertEquals((await find({ env, baseUrl: "http://127.0.0.1:9/v1", model })).apiKey, undefined);
    }
    const providers = { openai: { baseUrl: "https://gateway.example/v1" } };
    assertEquals((await refusal({ env, providers, model: "openai/x" })).hint, "set OCTAVO_API_KEY");
    for (
      const baseUrl of [
        "https://api.openai.com.evil.example/v1",
        "http://api.openai.com/v1",
        "https://api.openai.com:444/v1",
      ]
    ) {
      assertEquals((await refusal({ env, baseUrl, model: "openai/x" })).hint, "set OCTAVO_API_KEY");
    }
  });

  test("OCTAVO_API_KEY to the base URL of the settings", async () => {
    for (const model of ["x", "openai/x", "anthropic/x"]) {
      const found = await find({ ...settings, baseUrl: "https://gateway.example/v1", model });
      assertEquals([found.apiKey, found.apiKeyFrom], ["octavo-key", "OCTAVO_API_KEY"]);
    }
  });

  test("OCTAVO_API_KEY to the provider that the settings name", async () => {
    assertEquals((await find({ ...settings, model: "groq/x" })).apiKey, "octavo-key");
  });

  test("OCTAVO_API_KEY to no endpoint that the environment or the probe found", async () => {
    assertEquals((await find(settings)).apiKey, "openai-key");
    assertEquals((await find({ ...settings, model: "gpt-x" })).apiKey, "openai-key");
    await withServer([openaiList, ollamaTags], async (server) => {
      const base = { OPENAI_BASE_URL: server.url };
      assertEquals((await find({ apiKey: "octavo-key", env: base, model: "openai/x" })).apiKey, undefined);
      assertEquals((await find({ apiKey: "octavo-key", env: base })).apiKey, undefined);
      const found = await find({ apiKey: "octavo-key", env: {}, ports: { ollama: server.port } });
      assertEquals(found.apiKey, undefined);
      assert(server.requests.every((request) => request.headers.authorization === undefined));
    });
  });

  test("OCTAVO_API_KEY not past its base URL, to a provider that a flag names", async () => {
    const base = { baseUrl: "https://gateway.example/v1", baseUrlFrom: "OCTAVO_BASE_URL" };
    assertEquals(
      (await refusal({ ...base, apiKey: "octavo-key", model: "groq/x", modelFrom: "--model" })).hint,
      "set GROQ_API_KEY",
    );
  });

  test("the user file's key to the endpoint that stands with it", async () => {
    const providers = {
      mine: { baseUrl: "https://mine.example/v1", apiKey: "file-key" },
      openai: { apiKey: "file-openai" },
    };
    assertEquals((await find({ env: {}, providers, model: "mine/x" })).apiKey, "file-key");
    assertEquals((await find({ env, providers, model: "openai/x" })).apiKey, "file-openai");
    const elsewhere = { env: {}, providers, baseUrl: "https://other.example/v1" };
    for (const model of ["mine/x", "openai/x"]) {
      assertEquals((await refusal({ ...elsewhere, model })).hint, "set OCTAVO_API_KEY");
    }
  });

  test("a missing one is said with the variable to set", async () => {
    for (const preset of PRESETS.filter((one) => one.baseUrl?.startsWith("https:"))) {
      const error = await refusal({ model: `${preset.id}/x` });
      assertStringIncludes(error.message, `No API key for "${preset.id}"`);
      assertEquals(error.hint, `set ${preset.keys[0]}`);
    }
    assertEquals((await refusal({ baseUrl: "http://192.168.1.9:8000", model: "x" })).hint, "set OCTAVO_API_KEY");
    assertEquals(
      (await refusal({ env: { OPENAI_BASE_URL: "https://g.example" }, model: "openai/x" })).hint,
      "set OPENAI_API_KEY",
    );
  });

  test("an endpoint on loopback needs none", async () => {
    for (const baseUrl of ["http://127.0.0.1:9", "http://localhost:9", "http://[::1]:9"]) {
      assertEquals((await find({ baseUrl, model: "x" })).apiKey, undefined);
    }
  });
});

test("apiKeyCommand gives the key: the first line of what it prints, run without a shell, for its endpoint alone", async () => {
  await withFolder(async (dir) => {
    const program = join(dir, "key");
    writeFileSync(program, '#!/bin/sh\necho "key for $1"\necho second line\n');
    chmodSync(program, 0o755);
    const mine = (...apiKeyCommand: string[]) => ({ mine: { baseUrl: "https://mine.example/v1", apiKeyCommand } });
    const env = { PATH: process.env.PATH };
    const found = await find({ env, providers: mine(program, "$HOME; me"), model: "mine/x" });
    assertEquals([found.apiKey, found.apiKeyFrom], ["key for $HOME; me", "its command"]);
    assertEquals((await find({ env, providers: mine("false"), model: "ollama/x" })).provider, "ollama");
    const error = await refusal({ env, providers: mine("false"), model: "mine/x" });
    assertStringIncludes(error.message, 'apiKeyCommand of "mine" gives no key: exit code 1');
    assertStringIncludes((await refusal({ env, providers: mine("true"), model: "mine/x" })).message, "prints nothing");
    const missing = await refusal({ env, providers: mine("/nonexistent/key"), model: "mine/x" });
    assertStringIncludes(missing.message, 'apiKeyCommand of "mine"');
  });
});

test("headers, protocol and window of the user file go with their provider", async () => {
  const mine = {
    baseUrl: "http://127.0.0.1:9/",
    headers: { "x-team": "a" },
    protocol: "anthropic" as const,
    contextWindow: 5000,
  };
  const found = await find({ providers: { mine }, model: "mine/a/b" });
  assertEquals([found.headers, found.protocol, found.contextWindow], [mine.headers, "anthropic", 5000]);
  assertEquals([found.name, found.baseUrl], ["a/b", "http://127.0.0.1:9"]);
});

describe("localOnly", () => {
  test("refuses an endpoint that is not on loopback, before anything is asked or run", async () => {
    const env = { OPENAI_API_KEY: "k" };
    const providers = { mine: { baseUrl: "https://mine.example/v1", apiKeyCommand: ["/nonexistent"] } };
    for (
      const settings of [{ model: "openai/x", env }, { env }, { baseUrl: "http://10.0.0.1", model: "x" }, {
        providers,
        model: "mine",
      }]
    ) {
      assertStringIncludes((await refusal({ ...settings, localOnly: true })).message, "--local-only");
    }
  });

  test("takes one that is", async () => {
    assertEquals((await find({ model: "ollama/x", localOnly: true })).local, true);
    assertEquals(await findModel({ env: {}, localOnly: true, ports: await dead }), BUILTIN);
  });
});

describe("the look for local servers", () => {
  const slow = new Promise(() => undefined);
  /** A server for each id, with ports for findModel(). */
  async function running(
    replies: Record<string, (request: RecordedRequest) => Reply>,
    use: (ports: Record<string, number>, servers: Record<string, TestServer>) => Promise<void>,
  ): Promise<void> {
    const servers: Record<string, TestServer> = {};
    for (const [id, reply] of Object.entries(replies)) servers[id] = await serve(reply);
    const ports = Object.fromEntries(Object.entries(servers).map(([id, server]) => [id, server.port]));
    try {
      await use(ports, servers);
    } finally {
      for (const server of Object.values(servers)) await server.close();
    }
  }

  test("finds each of them by the shape of its answer, with the first model that answers chats", async () => {
    for (const id of ["ollama", "lmstudio", "llamacpp", "vllm", "jan", "gpt4all", "textgen", "koboldcpp"]) {
      await running({ [id]: () => id === "ollama" ? ollamaTags : openaiList }, async (ports, servers) => {
        const found = await find({ ports });
        assertEquals([found.provider, found.name], [id, id === "ollama" ? "qwen2.5-coder:7b" : "qwen/qwen3-coder"]);
        assertEquals(found.from, `found on 127.0.0.1:${ports[id]}`);
        assertEquals(servers[id]?.requests.map((request) => `${request.method} ${request.path}`), [
          id === "ollama" ? "GET /api/tags" : "GET /v1/models",
        ]);
      });
    }
  });

  test("calls a server what it calls itself", async () => {
    await running(
      { lmstudio: () => json({ data: [{ id: "m", owned_by: "vllm", max_model_len: 4096 }] }) },
      async (ports) => {
        const found = await find({ ports });
        assertEquals([found.provider, found.contextWindow], ["vllm", 4096]);
      },
    );
  });

  test("passes over what answers in another shape, too late, or serves no chat model, in under half a second", async () => {
    const strangers = {
      ollama: () => ({ body: "<html>" }),
      lmstudio: () => json({ data: [{ id: "text-embedding-x" }] }),
      llamacpp: () => ({ after: slow }),
      vllm: () => ({ status: 404, body: '{"data": [{"id": "x"}]}' }),
      jan: () => ({ body: ["{", slow] }),
      gpt4all: () => json({ models: [{ name: "x" }] }),
    };
    await running(strangers, async (ports) => {
      const before = performance.now();
      assertEquals(await findModel({ env: {}, ports: { ...await dead, ...ports } }), BUILTIN);
      // 300 ms by its own limit; the rest is for a busy machine
      assert(performance.now() - before < 1_500);
    });
  });

  test("asks all of them at the same time", async () => {
    const both = Promise.withResolvers<void>();
    let asked = 0;
    const reply = () => {
      if (++asked === 2) both.resolve();
      return { ...openaiList, after: both.promise };
    };
    await running(
      { lmstudio: reply, jan: reply },
      async (ports) => assertEquals((await find({ ports })).provider, "lmstudio"),
    );
  });

  test("goes through no proxy and carries no key", async () => {
    await withServer([], async (proxy) => {
      await running({ lmstudio: () => openaiList }, async (ports, servers) => {
        await find({ ports, env: { HTTP_PROXY: proxy.url, ALL_PROXY: proxy.url }, apiKey: "k" });
        assertEquals(servers.lmstudio?.requests[0]?.headers.authorization, undefined);
      });
    });
  });

  test("takes a bare name to the server that has it", async () => {
    await running({ ollama: () => ollamaTags, lmstudio: () => openaiList }, async (ports) => {
      assertEquals((await find({ ports, model: "phi" })).provider, "lmstudio");
      const latest = await find({ ports, model: "llama3.2" });
      assertEquals([latest.provider, latest.name], ["ollama", "llama3.2:latest"]);
      const error = await refusal({ ports, model: "mistral-x" });
      assertStringIncludes(error.hint ?? "", "ollama/qwen2.5-coder:7b");
      assertStringIncludes(error.hint ?? "", "lmstudio/phi");
    });
  });
});

describe("the window of a model that was found", () => {
  test("takes what is known without asking", async () => {
    const set = await find({ model: "ollama/x", providers: { ollama: { contextWindow: 9 } } });
    assertEquals(await contextWindow(set, { env: {} }), 9);
    const gpt = await find({ model: "openai/gpt-4o-mini", env: { OPENAI_API_KEY: "k" } });
    assertEquals(gpt.contextWindow, 128_000);
    const claude = await find({ model: "anthropic/claude-sonnet-4-5", env: { ANTHROPIC_API_KEY: "k" } });
    assertEquals(await contextWindow(claude, { env: {} }), 200_000);
    for (const name of ["claude-sonnet-4-6", "claude-sonnet-5-5", "claude-haiku-5-5"]) {
      const newer = await find({ model: `anthropic/${name}`, env: { ANTHROPIC_API_KEY: "k" } });
      assertEquals(newer.contextWindow, 1_000_000);
    }
    const unknown = await find({ model: "openai/who-knows", env: { OPENAI_API_KEY: "k" } });
    assertEquals(await contextWindow(unknown, { env: {} }), undefined);
  });
});

test("describeProviders() tells of each provider what is there, by what, and what would configure it", async () => {
  const ollamaAnswers = (request: RecordedRequest) =>
    request.path === "/api/tags" ? ollamaTags : json({ model_info: { "llama.context_length": 4_096 } });
  await withServer(ollamaAnswers, async (ollama) => {
    await withServer(() => json({ data: [{ id: "a", context_length: 8192 }] }), async (mine) => {
      const reports = await describeProviders({
        env: { OPENAI_BASE_URL: `${mine.url}/openai`, GROQ_API_KEY: "k" },
        providers: { mine: { baseUrl: mine.url } },
        localOnly: true,
        probeMs: PATIENT_MS,
        ports: { ...await dead, ollama: ollama.port },
      });
      const of = (id: string) => reports.find((report) => report.provider === id);
      assertEquals(reports.map((report) => report.provider), ["mine", ...PRESETS.map((preset) => preset.id)]);
      assertEquals(of("mine"), {
        provider: "mine",
        title: "mine",
        baseUrl: `${mine.url}/v1`,
        from: "the user file",
        local: true,
        variables: [],
        models: [{ name: "a", contextWindow: 8192 }],
      });
      assertEquals([of("ollama")?.from, of("ollama")?.models.length], [`found on 127.0.0.1:${ollama.port}`, 3]);
      assertEquals(of("ollama")?.models[0]?.contextWindow, 4_096);
      assertEquals([of("openai")?.from, of("openai")?.models.length], ["OPENAI_BASE_URL", 1]);
      assertStringIncludes(of("groq")?.error ?? "", "--local-only");
      assertEquals([of("mistral")?.from, of("mistral")?.variables], [undefined, [
        "MISTRAL_API_KEY",
        "MISTRAL_BASE_URL",
      ]]);
      assert(!JSON.stringify(reports).includes('"k"'));
    });
  });
});

test("describeProviders() puts the endpoint first that the settings name, and says where its key comes from", async () => {
  await withServer(() => json({ data: [{ id: "mine", max_model_len: 4_096 }] }), async (server) => {
    const reports = await describeProviders({
      env: {},
      baseUrl: server.url,
      baseUrlFrom: "OCTAVO_BASE_URL",
      apiKey: "secret-key",
      ports: await dead,
    });
    const [first] = reports;
    assertEquals([first?.provider, first?.from, first?.keyFrom], ["custom", "OCTAVO_BASE_URL", "OCTAVO_API_KEY"]);
    assertEquals(first?.models, [{ name: "mine", contextWindow: 4_096 }]);
    assert(!JSON.stringify(reports).includes("secret-key"));
  });
});

test("describeProviders() says of an endpoint that is no address what is wrong with it", async () => {
  const [first] = await describeProviders({ env: {}, baseUrl: "ftp://x", ports: await dead });
  assertStringIncludes(first?.error ?? "", "is no base URL");
});
