import { describe, test } from "node:test";
import { assert, assertEquals, assertInstanceOf, assertStringIncludes } from "@std/assert";
import { contextWindow, endpoint, listModels, type Model, normalizeBaseUrl, ollamaUrl } from "../endpoint.ts";
import { ProviderError, UsageError } from "../errors.ts";
import { json, type RecordedRequest, type Reply, serve, withServer } from "./support_server.ts";

const ollamaTags = json({
  models: [{ name: "nomic-embed-text:latest" }, { name: "qwen2.5-coder:7b" }, { name: "llama3.2:latest" }],
});

describe("a base URL", () => {
  const forms: [protocol: Model["protocol"], text: string, url: string][] = [
    ["openai", "http://127.0.0.1:8080", "http://127.0.0.1:8080/v1"],
    ["openai", "http://127.0.0.1:8080/", "http://127.0.0.1:8080/v1"],
    ["openai", "http://h:8080/v1/", "http://h:8080/v1"],
    ["openai", "http://h:8080//v1//", "http://h:8080/v1"],
    ["openai", "http://h/v1/chat/completions", "http://h/v1"],
    ["openai", "http://h/v1/chat/completions/", "http://h/v1"],
    ["openai", "http://h/chat/completions", "http://h/v1"],
    ["openai", "http://h/v1/models", "http://h/v1"],
    ["openai", "https://h/api/v3", "https://h/api/v3"],
    ["openai", "https://h/v1beta/openai/", "https://h/v1beta/openai"],
    ["openai", "https://h/openai/v1?api-version=preview", "https://h/openai/v1?api-version=preview"],
    ["openai", " localhost:1234/v1 ", "http://localhost:1234/v1"],
    ["openai", "127.0.0.1:1234", "http://127.0.0.1:1234/v1"],
    ["openai", "llm.example.org", "https://llm.example.org/v1"],
    ["openai", "http://0.0.0.0:8000", "http://127.0.0.1:8000/v1"],
    ["openai", "http://[::]:8000/v1", "http://[::1]:8000/v1"],
    ["anthropic", "https://api.anthropic.com/v1", "https://api.anthropic.com"],
    ["anthropic", "https://api.anthropic.com/v1/messages", "https://api.anthropic.com"],
    ["anthropic", "https://proxy/anthropic/", "https://proxy/anthropic"],
    ["ollama", "http://127.0.0.1:11434/", "http://127.0.0.1:11434"],
    ["ollama", "http://127.0.0.1:11434/v1", "http://127.0.0.1:11434"],
    ["ollama", "http://127.0.0.1:11434/v1/chat/completions", "http://127.0.0.1:11434"],
    ["ollama", "http://127.0.0.1:11434/api/chat", "http://127.0.0.1:11434"],
    ["ollama", "http://h/ollama/api", "http://h/ollama"],
  ];
  for (const [protocol, text, url] of forms) {
    test(`"${text}" (${protocol}) means ${url}`, () => assertEquals(normalizeBaseUrl(text, protocol), url));
  }

  test("that is none, or holds a password, is refused without showing it", () => {
    for (const text of ["", "ftp://h/", "http://", "https://me:pw@h/v1", "a b"]) {
      try {
        normalizeBaseUrl(text, "openai");
      } catch (error) {
        assertInstanceOf(error, UsageError);
        assert(!`${error.message}${error.hint}`.includes("pw"));
        continue;
      }
      throw new Error(`"${text}" was taken`);
    }
  });

  test("keeps its query behind the path of a call", () => {
    assertEquals(endpoint("https://h/v1?a=b", "/chat/completions"), "https://h/v1/chat/completions?a=b");
    assertEquals(endpoint("https://h/v1", "/models"), "https://h/v1/models");
  });
});

describe("OLLAMA_HOST", () => {
  const forms: [host: string, url: string][] = [
    ["10.0.0.5", "http://10.0.0.5:11434"],
    ["gpu-box", "http://gpu-box:11434"],
    ["gpu-box:1234", "http://gpu-box:1234"],
    ["http://gpu-box", "http://gpu-box"],
    ["https://gpu-box", "https://gpu-box"],
    ["http://gpu-box:8080", "http://gpu-box:8080"],
    [":11435", "http://127.0.0.1:11435"],
    ["::1", "http://[::1]:11434"],
    ["[::1]", "http://[::1]:11434"],
    ["[::1]:1234", "http://[::1]:1234"],
    ["gpu-box/ollama", "http://gpu-box:11434/ollama"],
    ["https://gpu-box/ollama/", "https://gpu-box/ollama"],
    ["0.0.0.0", "http://127.0.0.1:11434"],
    ["0.0.0.0:1234", "http://127.0.0.1:1234"],
    ["::", "http://[::1]:11434"],
    ["[::]:1234", "http://[::1]:1234"],
    [' "gpu-box" ', "http://gpu-box:11434"],
  ];
  for (const [host, url] of forms) {
    test(`${host} means ${url}`, () => assertEquals(ollamaUrl(host), url));
  }
});

describe("contextWindow()", () => {
  const at = (url: string, provider: string, more: Partial<Model> = {}): Model => ({
    provider,
    name: "m",
    protocol: provider === "ollama" ? "ollama" : "openai",
    baseUrl: provider === "ollama" ? url : `${url}/v1`,
    local: true,
    from: "a test",
    ...more,
  });
  const routes = (answers: Record<string, unknown>) => (request: RecordedRequest): Reply => {
    const answer = answers[request.path];
    return answer === undefined ? { status: 404, body: "no" } : json(answer);
  };
  const cases: [name: string, provider: string, answers: Record<string, unknown>, window: number | undefined][] = [
    ["Ollama's /api/show", "ollama", {
      "/api/show": { model_info: { "general.architecture": "qwen2", "qwen2.context_length": 32768 } },
    }, 32768],
    [
      "Ollama's own parameter before what the model was made for",
      "ollama",
      { "/api/show": { parameters: 'stop "x"\nnum_ctx    8192', model_info: { "qwen2.context_length": 32768 } } },
      8192,
    ],
    [
      "Ollama's /api/ps",
      "ollama",
      { "/api/show": {}, "/api/ps": { models: [{ name: "m", context_length: 4096 }] } },
      4096,
    ],
    [
      "LM Studio's /api/v0/models",
      "lmstudio",
      {
        "/v1/models": { data: [{ id: "m" }] },
        "/api/v0/models": { data: [{ id: "m", max_context_length: 32768, loaded_context_length: 6000 }] },
      },
      6000,
    ],
    ["llama.cpp's /props", "llamacpp", {
      "/v1/models": { data: [{ id: "m" }] },
      "/props": { default_generation_settings: { n_ctx: 12000 } },
    }, 12000],
    [
      "vLLM's max_model_len",
      "vllm",
      { "/v1/models": { data: [{ id: "other" }, { id: "m", max_model_len: 16384 }] } },
      16384,
    ],
    ["nobody who knows", "jan", { "/v1/models": { data: [{ id: "m" }] } }, undefined],
  ];
  for (const [name, provider, answers, window] of cases) {
    test(`asks ${name}`, async () => {
      await withServer(routes(answers), async (server) => {
        assertEquals(await contextWindow(at(server.url, provider), { env: {} }), window);
      });
    });
  }

  test("asks OpenRouter's list", async () => {
    const list = { data: [{ id: "qwen/qwen3-coder:free", context_length: 262144 }] };
    await withServer(routes({ "/v1/models": list }), async (server) => {
      const model = at(server.url, "openrouter", { name: "qwen/qwen3-coder:free", local: false });
      assertEquals(await contextWindow(model, { env: {} }), 262144);
      assertEquals(server.requests.length, 1);
    });
  });

  test("takes no well-known window for a model on one's own machine, and no failure for an error", async () => {
    const gone = await serve([]);
    await gone.close();
    assertEquals(await contextWindow(at(gone.url, "lmstudio", { name: "gpt-4o" }), { env: {} }), undefined);
  });
});

describe("listModels()", () => {
  test("reads each protocol's list, with its key", async () => {
    const answers: [protocol: Model["protocol"], path: string, header: string, reply: Reply, names: string[]][] = [
      ["openai", "/models", "authorization", json({ data: [{ id: "models/gemini-x" }, { id: "b" }, { no: 1 }] }), [
        "gemini-x",
        "b",
      ]],
      ["openai", "/models", "authorization", json([{ id: "a", context_length: 5 }]), ["a"]],
      ["ollama", "/api/tags", "authorization", ollamaTags, [
        "nomic-embed-text:latest",
        "qwen2.5-coder:7b",
        "llama3.2:latest",
      ]],
      ["anthropic", "/v1/models?limit=1000", "x-api-key", json({ data: [{ type: "model", id: "claude-x" }] }), [
        "claude-x",
      ]],
    ];
    for (const [protocol, path, header, reply, names] of answers) {
      await withServer([reply], async (server) => {
        const models = await listModels({ provider: "p", protocol, baseUrl: server.url, apiKey: "k" }, { env: {} });
        assertEquals(models.map((model) => model.name), names);
        assertEquals(server.requests[0]?.path, path);
        assertStringIncludes(server.requests[0]?.headers[header] ?? "", "k");
      });
    }
  });

  test("gives up in time, and prints no key", async () => {
    await withServer(
      [{ after: new Promise(() => undefined) }, { status: 401, body: "bad key sk-secret" }],
      async (server) => {
        const at = { provider: "p", protocol: "openai" as const, baseUrl: server.url, apiKey: "sk-secret" };
        const late = await listModels(at, { env: {}, timeoutMs: 50 }).catch((error: unknown) => error);
        assertInstanceOf(late, ProviderError);
        assertStringIncludes(late.message, "too long");
        const refused = await listModels(at, { env: {} }).catch((error: unknown) => error);
        assertInstanceOf(refused, ProviderError);
        assertStringIncludes(refused.message, "HTTP 401: bad key [key]");
      },
    );
  });
});
