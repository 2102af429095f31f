/**
 * What a secret looks like, as data: the names of the rules of secretlint's preset, and the rules beside them.
 *
 * A rule says only what is certain by its form: a prefix that its issuer gives to nothing else, a checksum, a header that
 * decodes.
 *
 * @module
 */

/** What a rule is called, and what it is called to a person. */
export interface SecretRule {
  /** Stable, kebab-case: `[secret: ID]`. */
  id: string;
  /** What it finds, with a capital: `GitHub token`. */
  title: string;
}

/** A rule that is not in the preset. */
export interface OwnSecretRule extends SecretRule {
  /** The secret is its group `secret`, else all of it. Every repetition that can begin in many places is bounded. */
  pattern: RegExp;
  /** Whether what was found is one. @default all */
  check?: (match: RegExpExecArray) => boolean;
}

const START = "(?<![A-Za-z0-9])";
const END = "(?![A-Za-z0-9_-])";

/** A token that its prefix gives away. */
function token(id: string, title: string, form: string): OwnSecretRule {
  return { id, title, pattern: new RegExp(`${START}${form}${END}`, "g") };
}

/** The names of secretlint's rules, by theirs; what one of them says of itself beyond that, by its message. */
export const PRESET_RULES: Readonly<Record<string, SecretRule>> = {
  "1password": { id: "1password-token", title: "1Password service account token" },
  anthropic: { id: "anthropic-key", title: "Anthropic API key" },
  aws: { id: "aws-secret-access-key", title: "AWS secret access key" },
  "aws/AWSAccessKeyID": { id: "aws-access-key-id", title: "AWS access key id" },
  basicauth: { id: "url-password", title: "Password in a URL" },
  cloudflare: { id: "cloudflare-token", title: "Cloudflare token" },
  "database-connection-string": { id: "url-password", title: "Password in a URL" },
  databricks: { id: "databricks-token", title: "Databricks token" },
  docker: { id: "docker-token", title: "Docker token" },
  figma: { id: "figma-token", title: "Figma token" },
  gcp: { id: "gcp-service-account", title: "Google service account key" },
  github: { id: "github-token", title: "GitHub token" },
  gitlab: { id: "gitlab-token", title: "GitLab token" },
  grafana: { id: "grafana-token", title: "Grafana token" },
  groq: { id: "groq-key", title: "Groq API key" },
  "hashicorp-vault": { id: "vault-token", title: "HashiCorp Vault token" },
  huggingface: { id: "huggingface-token", title: "Hugging Face token" },
  linear: { id: "linear-key", title: "Linear API key" },
  notion: { id: "notion-token", title: "Notion token" },
  npm: { id: "npm-token", title: "npm token" },
  "npm/PackageJSON_xOauthToken": { id: "github-token", title: "GitHub token" },
  openai: { id: "openai-key", title: "OpenAI API key" },
  privatekey: { id: "private-key", title: "Private key" },
  sendgrid: { id: "sendgrid-key", title: "SendGrid API key" },
  shopify: { id: "shopify-token", title: "Shopify token" },
  slack: { id: "slack-token", title: "Slack token" },
  "slack/IncomingWebhook": { id: "slack-webhook", title: "Slack webhook" },
  stripe: { id: "stripe-key", title: "Stripe key" },
  tailscale: { id: "tailscale-key", title: "Tailscale key" },
  vercel: { id: "vercel-token", title: "Vercel token" },
};

/** Messages of the preset that are about nothing secret: an account's number is on every invoice. */
export const PRESET_IGNORED: ReadonlySet<string> = new Set(["aws/AWSAccountID"]);

/** Whether a text is the first part of a JSON web token: JSON with an algorithm (RFC 7515, section 4.1.1). */
function isJwtHeader(text: string): boolean {
  const header = decodeJson(text);
  return typeof header === "object" && header !== null && "alg" in header && typeof header.alg === "string";
}

function decodeJson(base64url: string): unknown {
  try {
    return JSON.parse(atob(base64url.replaceAll("-", "+").replaceAll("_", "/")));
  } catch {
    return undefined; // no base64, or no JSON in it
  }
}

/** A Discord bot's token begins with its number. */
function isDiscordToken(match: RegExpExecArray): boolean {
  try {
    return /^\d{17,20}$/.test(atob(match[0].split(".")[0]!));
  } catch {
    return false; // no base64
  }
}

/** Whether text is a name and a password as HTTP's Basic scheme writes them (RFC 7617). */
function isBasicAuth({ groups }: RegExpExecArray): boolean {
  try {
    return /^[\x20-\x7e]{1,100}:[\x20-\x7e]{3,200}$/.test(atob(groups?.secret ?? ""));
  } catch {
    return false; // no base64
  }
}

/** Shannon entropy of the characters of a text, in bits a character. */
function entropy(text: string): number {
  const counts = new Map<string, number>();
  for (const char of text) counts.set(char, (counts.get(char) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= count / text.length * Math.log2(count / text.length);
  return bits;
}

/** Bits a character from which hex was not written by a person; 32 random digits have 3.2 to 3.8. */
const MIN_HEX_ENTROPY = 3;
/** Bits a character from which other text was not; 32 random characters of base64 have 4.3 to 4.9. */
const MIN_TEXT_ENTROPY = 4.1;
/** Share of neighbours that are of different kinds: 0.62 in random base64, 0.2 to 0.45 in names made of words. */
const MIN_CHANGES = 0.48;

/** Whether letters of both cases and digits stand in no order. */
function isRandom(text: string): boolean {
  if (!/[a-z]/.test(text) || !/[A-Z]/.test(text) || !/[0-9].*[0-9]/.test(text)) return false;
  let changes = 0;
  for (let i = 1; i < text.length; i++) if (kindOf(text[i]!) !== kindOf(text[i - 1]!)) changes++;
  return changes / (text.length - 1) >= MIN_CHANGES && entropy(text) >= MIN_TEXT_ENTROPY;
}

function kindOf(char: string): string {
  return char >= "a" && char <= "z" ? "a" : char >= "A" && char <= "Z" ? "A" : char >= "0" && char <= "9" ? "0" : "";
}

const SECRET_NAME =
  "[A-Z0-9_]{0,40}(?:SECRET|TOKEN|PASSWORD|PASSWD|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|ENCRYPTION_?KEY|" +
  "SIGNING_?KEY|AUTH_?KEY|MASTER_?KEY)(?:_[A-Z0-9_]{1,30})?";

/** Names that speak of something beside the secret: where it is, what it is called, a sum of it. */
const NO_SECRET_NAME =
  /PUBLIC|PUB_|_(?:ID|IDS|URL|URI|PATH|FILE|NAME|HASH|SHA|SHA1|SHA256|DIGEST|CHECKSUM|FINGERPRINT|ARN|HOST|TYPE|VERSION|REF|TTL|ISSUER|ADDRESS)$/;

/** Whether the value of a variable with a telling name can be nothing but a secret: long hex, or random characters. */
function isSecretAssignment({ groups }: RegExpExecArray): boolean {
  const { name = "", secret = "" } = groups ?? {};
  if (NO_SECRET_NAME.test(name)) return false;
  const isHex = /^(?:[0-9a-f]{32,128}|[0-9A-F]{32,128})$/.test(secret) && /[a-f]/i.test(secret) && /\d/.test(secret) &&
    secret.length % 2 === 0;
  return isHex ? entropy(secret) >= MIN_HEX_ENTROPY : isRandom(secret);
}

/** A password in a URL that stands for itself: no variable, no gap to be filled. */
function isOwnPassword({ groups }: RegExpExecArray): boolean {
  const { user = "", password = "", host = "" } = groups ?? {};
  if (/[${}<>*]|%[A-Z_]{2,}%|%s|^\[/.test(user + password) || /^(.)\1*$/.test(password) || user === password) {
    return false;
  }
  if (/^\d{1,5}$/.test(password)) return false; // a port
  if (/^(?:pass(?:word|wd)?|pwd?|secret|changeme|token|x-oauth-basic|foo|bar|test|null|undefined)$/i.test(password)) {
    return false;
  }
  return !/^(?:.*\.)?(?:example|invalid|test)(?:\.\w+)?$/i.test(host);
}

/** The rules beside the preset's. */
export const OWN_RULES: readonly OwnSecretRule[] = [
  token("google-api-key", "Google API key", "AIza[\\w-]{35}"),
  token("google-oauth-secret", "Google OAuth client secret", "GOCSPX-[\\w-]{28}"),
  token("google-oauth-token", "Google OAuth access token", "ya29\\.[\\w-]{30,2000}"),
  {
    id: "jwt",
    title: "JSON web token",
    pattern: /(?<![\w-])(eyJ[\w-]{10,2000})\.[\w-]{2,10000}\.[\w-]{16,2000}(?:\.[\w-]{1,2000}){0,2}(?![\w-])/g,
    check: ([, header]) => isJwtHeader(header!),
  },
  token("pypi-token", "PyPI token", "pypi-Ag(?:EIcHlwaS5vcmc|ENdGVzdC5weXBpLm9yZw)[\\w-]{50,2000}"),
  token("huggingface-token", "Hugging Face token", "(?:hf_|api_org_)[A-Za-z0-9]{34}"),
  {
    id: "npm-token",
    title: "npm token",
    pattern: /(?:_authToken|:_password|:_auth)\s?=\s?["']?(?<secret>[A-Za-z0-9_+/=.-]{20,2000})/g,
  },
  token("stripe-webhook-secret", "Stripe webhook secret", "whsec_[A-Za-z0-9+/]{32,64}"),
  {
    id: "slack-token",
    title: "Slack token",
    pattern: /(?<![A-Za-z0-9-])xox[abcdeoprsx](?:\.xox[bp])?-[A-Za-z0-9%-]{20,400}(?![\w-])/g,
    check: ([match]) => /\d/.test(match),
  },
  {
    id: "slack-webhook",
    title: "Slack webhook",
    pattern:
      /hooks\.slack\.com\/(?:services|workflows|triggers)\/(?<secret>[A-Z0-9]{6,20}\/[\w-]{6,40}\/[\w/-]{16,80})/g,
  },
  {
    id: "discord-webhook",
    title: "Discord webhook",
    pattern: /discord(?:app)?\.com\/api\/webhooks\/\d{16,21}\/(?<secret>[\w-]{60,90})/g,
  },
  {
    id: "discord-token",
    title: "Discord bot token",
    pattern: /(?<![\w-])[MNO][A-Za-z0-9_-]{22,27}\.[\w-]{6}\.[\w-]{27,38}(?![\w-])/g,
    check: isDiscordToken,
  },
  {
    id: "telegram-token",
    title: "Telegram bot token",
    pattern: /(?<![A-Za-z0-9])\d{8,10}:AA[\w-]{33}(?![\w-])/g,
  },
  token("sendgrid-key", "SendGrid API key", "SG\\.[\\w-]{22}\\.[\\w-]{43}"),
  token("mailchimp-key", "Mailchimp API key", "[0-9a-f]{32}-us\\d\\d?"),
  token("anthropic-key", "Anthropic API key", "sk-ant-(?:api|admin|oat|ort|sid)\\d\\d-[\\w-]{80,200}"),
  token("openrouter-key", "OpenRouter API key", "sk-or-v1-[0-9a-f]{64}"),
  token("xai-key", "xAI API key", "xai-[A-Za-z0-9]{80}"),
  token("replicate-token", "Replicate token", "r8_[A-Za-z0-9]{37}"),
  token("perplexity-key", "Perplexity API key", "pplx-[A-Za-z0-9]{48}"),
  {
    ...token("gitlab-token", "GitLab token", "gl(?:pat|dt|rt|ptt|ft|oas|soat|cbt|imt|agent|rtr|wt|ffct)-"),
    pattern:
      /(?<![A-Za-z0-9])gl(?:pat|dt|rt|ptt|ft|oas|soat|cbt|imt|agent|rtr|wt|ffct)-[\w-]{20,300}(?:\.[0-9a-z]{2}(?:\.[0-9a-z]{7,9})?)?(?![\w-])/g,
    check: ([match]) => /\d/.test(match),
  },
  token("digitalocean-token", "DigitalOcean token", "do[oprt]_v1_[0-9a-f]{64}"),
  {
    id: "azure-key",
    title: "Azure key",
    pattern: /(?:AccountKey|SharedAccessKey)=(?<secret>[A-Za-z0-9+/]{86}==|[A-Za-z0-9+/]{43}=)/g,
  },
  {
    id: "azure-client-secret",
    title: "Azure client secret",
    pattern: /(?<![\w.~-])[\w.~]{3}\dQ~[\w.~-]{31,34}(?![\w.~-])/g,
  },
  token("atlassian-token", "Atlassian token", "AT(?:ATT|CTT)3[\\w=-]{100,300}"),
  token("square-token", "Square token", "sq0(?:atp|csp)-[\\w-]{22,43}"),
  token("age-key", "age secret key", "AGE-SECRET-KEY-1[0-9A-Z]{58}"),
  token("sentry-token", "Sentry token", "sntry(?:s_eyJ|u_[0-9a-f]{32})[\\w+/=-]{32,600}"),
  token("newrelic-key", "New Relic key", "NRAK-[A-Z0-9]{27}"),
  token(
    "doppler-token",
    "Doppler token",
    "dp\\.(?:pt|st|ct|sa|scim|audit)\\.(?:[a-z0-9_-]{2,35}\\.)?[A-Za-z0-9]{40,44}",
  ),
  token("postman-key", "Postman API key", "PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
  {
    id: "terraform-token",
    title: "HCP Terraform token",
    pattern: /(?<![A-Za-z0-9])[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,70}(?![\w-])/g,
  },
  token("pulumi-token", "Pulumi token", "pul-[0-9a-f]{40}"),
  token("rubygems-key", "RubyGems API key", "rubygems_[0-9a-f]{48}"),
  token("clojars-token", "Clojars token", "CLOJARS_[0-9a-z]{60}"),
  token("netlify-token", "Netlify token", "nfp_[A-Za-z0-9]{36}"),
  token("supabase-token", "Supabase token", "sb[ps]_[0-9a-f]{40}"),
  token("planetscale-token", "PlanetScale token", "pscale_(?:tkn|pw|oauth)_[\\w.-]{32,64}"),
  {
    id: "airtable-token",
    title: "Airtable token",
    pattern: /(?<![A-Za-z0-9])pat[A-Za-z0-9]{14}\.[0-9a-f]{64}(?![A-Za-z0-9])/g,
  },
  token("buildkite-token", "Buildkite token", "bkua_[0-9a-z]{40}"),
  {
    id: "wireguard-key",
    title: "WireGuard private key",
    pattern: /PrivateKey\s?=\s?(?<secret>[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=)/g,
  },
  {
    id: "basic-auth",
    title: "Name and password in a header",
    pattern: /[Aa]uthorization.{0,20}[Bb]asic (?<secret>[A-Za-z0-9+/]{12,400}={0,2})(?![\w+/=])/g,
    check: isBasicAuth,
  },
  {
    id: "url-password",
    title: "Password in a URL",
    pattern:
      /(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{1,20}:\/\/(?<secret>(?<user>[^\s:/?#@"'`<>()]{0,100}):(?<password>[^\s/?#@"'`<>()]{4,200}))@(?<host>[\w.-]{1,253}|\[[0-9a-f:.]+\])/gi,
    check: isOwnPassword,
  },
  {
    id: "env-secret",
    title: "Secret in a variable",
    pattern: new RegExp(
      `^[ \\t+>-]{0,20}(?:export |ENV |- )?["']?(?<name>${SECRET_NAME})["']?\\s?[=:]\\s?["']?(?<secret>[\\w+/=.~-]{32,200})["']?[,;]?\\s{0,4}(?:#.{0,200})?$`,
      "gm",
    ),
    check: isSecretAssignment,
  },
];

/** The rule on private keys, which `private_keys.ts` finds. */
export const PRIVATE_KEY: SecretRule = PRESET_RULES.privatekey!;

/** Every rule once, in the order of their names. */
export const SECRET_RULES: readonly SecretRule[] = [
  ...new Map(
    [...Object.values(PRESET_RULES), ...OWN_RULES].map(({ id, title }) => [id, { id, title }]),
  ).values(),
].sort((a, b) => a.id < b.id ? -1 : 1);
