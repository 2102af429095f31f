/**
 * The providers that octavo knows by name, as data.
 *
 * @module
 */

/** How an endpoint is spoken to. */
export type Protocol = "openai" | "ollama" | "anthropic";

/** One provider. */
export interface Preset {
  /** As in `PROVIDER/NAME`. */
  readonly id: string;
  /** The name that it gives itself. */
  readonly title: string;
  /** How its endpoint is spoken to. */
  readonly protocol: Protocol;
  /** Its own endpoint; absent where everybody has another. */
  readonly baseUrl?: string;
  /** The port it listens on by default, where it runs on the person's own machine. */
  readonly port?: number;
  /** Variables that hold its key, first one first; it goes to the provider's own endpoint alone. */
  readonly keys: readonly string[];
  /** The variable that holds another base URL, to which the key may go as well. */
  readonly baseUrlVariable?: string;
  /** The header of its key, where it is not the protocol's own. */
  readonly keyHeader?: string;
  /**
   * What a bare provider stands for; else the first model it serves. As of December 2026, aliases where there are any:
   * providers retire names within a year, and a refusal then names the ones there are.
   */
  readonly model?: string;
  /** How it is started, where it is local. */
  readonly start?: string;
}

/** In the order of choice: the local ones as they are looked for, then the ones on the network. */
export const PRESETS: readonly Preset[] = [
  local("ollama", "Ollama", 11434, { protocol: "ollama", keys: ["OLLAMA_API_KEY"], start: "ollama serve" }),
  local("lmstudio", "LM Studio", 1234, { start: "lms server start" }),
  local("llamacpp", "llama.cpp", 8080, { start: "llama-server -m MODEL.gguf" }),
  local("localai", "LocalAI", 8080, { start: "local-ai run" }),
  local("vllm", "vLLM", 8000, { start: "vllm serve MODEL" }),
  local("jan", "Jan", 1337, {}),
  local("gpt4all", "GPT4All", 4891, {}),
  local("textgen", "text-generation-webui", 5000, {}),
  local("koboldcpp", "KoboldCpp", 5001, {}),
  local("litellm", "LiteLLM", 4000, {
    keys: ["LITELLM_API_KEY", "LITELLM_MASTER_KEY"],
    baseUrlVariable: "LITELLM_BASE_URL",
    start: "litellm --model MODEL",
  }),
  remote("openai", "OpenAI", "https://api.openai.com/v1", ["OPENAI_API_KEY"], "gpt-6.1-terra"),
  {
    ...remote("anthropic", "Anthropic", "https://api.anthropic.com", ["ANTHROPIC_API_KEY"], "claude-sonnet-5-5"),
    protocol: "anthropic",
  },
  remote("openrouter", "OpenRouter", "https://openrouter.ai/api/v1", ["OPENROUTER_API_KEY"], "openrouter/auto"),
  remote(
    "gemini",
    "Google Gemini",
    "https://generativelanguage.googleapis.com/v1beta/openai",
    ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    "gemini-flash-latest",
  ),
  remote("groq", "Groq", "https://api.groq.com/openai/v1", ["GROQ_API_KEY"], "openai/gpt-oss-120b"),
  remote("deepseek", "DeepSeek", "https://api.deepseek.com/v1", ["DEEPSEEK_API_KEY"], "deepseek-flash"),
  remote("mistral", "Mistral", "https://api.mistral.ai/v1", ["MISTRAL_API_KEY"], "mistral-medium-latest"),
  {
    id: "azure",
    title: "Azure OpenAI",
    protocol: "openai",
    keys: ["AZURE_OPENAI_API_KEY"],
    baseUrlVariable: "AZURE_OPENAI_ENDPOINT",
    keyHeader: "api-key",
  },
];

/** The environment's providers in the order in which they are chosen. A key for Azure says nothing without an endpoint and a name. */
export const ENVIRONMENT_ORDER: readonly string[] = [
  "openai",
  "anthropic",
  "openrouter",
  "gemini",
  "groq",
  "deepseek",
  "mistral",
];

function local(id: string, title: string, port: number, more: Partial<Preset>): Preset {
  const path = more.protocol === "ollama" ? "" : "/v1";
  // 127.0.0.1, because localhost may be ::1, where these servers do not listen
  return { id, title, protocol: "openai", baseUrl: `http://127.0.0.1:${port}${path}`, port, keys: [], ...more };
}

function remote(id: string, title: string, baseUrl: string, keys: string[], model: string): Preset {
  return { id, title, protocol: "openai", baseUrl, keys, model, baseUrlVariable: `${id.toUpperCase()}_BASE_URL` };
}

/** The preset of an id. */
export function presetOf(id: string): Preset | undefined {
  return PRESETS.find((preset) => preset.id === id);
}

/** Context windows of well-known models behind a network, in tokens; a server of one's own may give them less. */
const WINDOWS: readonly [RegExp, number][] = [
  // what goes in, of 1,050,000 in all
  [/\bgpt-6/, 922_000],
  [/\bgpt-4\.1/, 1_047_576],
  [/\bgpt-5/, 400_000],
  [/\bgpt-4o|\bgpt-4-turbo|\bchatgpt-4o/, 128_000],
  [/\bgpt-4\b/, 8_192],
  [/\bgpt-3\.5-turbo/, 16_385],
  [/\bo[134](-mini|-pro)?\b/, 200_000],
  [/\bgpt-oss/, 131_072],
  [/\bclaude-[a-z]+-([5-9]|4[-.][6-9])\b/, 1_000_000],
  [/\bclaude/, 200_000],
  [/\bgemini-(1\.5|\d|flash|pro)/, 1_048_576],
  [/\bdeepseek-/, 128_000],
  [/\bcodestral/, 256_000],
  [/\b(mistral|magistral|devstral|ministral)-/, 128_000],
  [/\bllama-?(3\.[1-3]|4)/, 131_072],
];

/** The context window of a well-known model, in tokens. */
export function knownWindow(name: string): number | undefined {
  return WINDOWS.find(([pattern]) => pattern.test(name.toLowerCase()))?.[1];
}
