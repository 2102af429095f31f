/**
 * Secrets for tests, made up when a test runs from pieces that are none, so that no scanner finds one in the repository.
 * They are the same in every run.
 */

const LOWER = "abcdefghijklmnopqrstuvwxyz";
const UPPER = LOWER.toUpperCase();
const DIGITS = "0123456789";
const HEX = `${DIGITS}abcdef`;
const ALNUM = LOWER + UPPER + DIGITS;
const BASE64 = `${ALNUM}+/`;
const BASE64URL = `${ALNUM}-_`;

/** Makes secrets. */
export class SecretMaker {
  #state: number;

  /** @param seed Another seed, other secrets. */
  constructor(seed = 1) {
    this.#state = seed;
  }

  #next(below: number): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor(this.#state / 2 ** 32 * below);
  }

  /** Random characters; the first is a letter or digit, and so is the last. */
  chars(alphabet: string, length: number): string {
    const plain = [...alphabet].filter((char) => ALNUM.includes(char)).join("");
    return Array.from({ length }, (_, at) => {
      const from = at === 0 || at === length - 1 ? plain : alphabet;
      return from[this.#next(from.length)];
    }).join("");
  }

  alnum(length: number): string {
    return this.chars(ALNUM, length);
  }

  hex(length: number): string {
    return this.chars(HEX, length);
  }

  digits(length: number): string {
    return this.chars("123456789", length);
  }

  base64(length: number): string {
    return this.chars(BASE64, length);
  }

  base64url(length: number): string {
    return this.chars(BASE64URL, length);
  }

  upper(length: number): string {
    return this.chars(UPPER + DIGITS, length);
  }

  /** A JSON web token. */
  jwt(): string {
    const part = (value: object) =>
      btoa(JSON.stringify(value)).replace(/=+$/, "").replaceAll("+", "-").replaceAll("/", "_");
    return [
      part({ alg: "HS256", typ: "JWT" }),
      part({ sub: this.alnum(12), iat: 1_700_000_000 }),
      this.base64url(43),
    ].join(".");
  }

  /** The lines of a private key. */
  privateKey(kind = "RSA", lines = 6): string[] {
    const label = [kind, "PRIVATE", "KEY"].filter(Boolean).join(" ");
    const body = Array.from({ length: lines }, (_, n) => n === 0 ? `MIIE${this.base64(60)}` : this.base64(64));
    return [`-----BEGIN ${label}-----`, ...body, `${this.base64(20)}==`, `-----END ${label}-----`];
  }
}

/** A secret of a kind, in a line of its own as it would be in a file. */
export interface Sample {
  /** The rule that finds it. */
  rule: string;
  /** Line or lines of a file. */
  text: string;
  /** What must not be seen anywhere. */
  secret: string;
}

/** A sample of each kind that each rule finds, several of some. */
export function samples(seed = 1): Sample[] {
  const make = new SecretMaker(seed);
  const list: Sample[] = [];
  const add = (rule: string, secret: string, text: (secret: string) => string = (value) => `const x = "${value}";`) => {
    list.push({ rule, secret, text: text(secret) });
  };
  // secretlint's
  // its JSON is one byte longer than a multiple of three: base64 that ends in "fQ"
  add("1password-token", `ops_${btoa(JSON.stringify({ secretKey: make.alnum(82), x: "y" })).replace(/=+$/, "")}`);
  add("anthropic-key", `sk-ant-${"api03"}-${make.base64url(93)}AA`);
  add("aws-access-key-id", `AKIA${make.upper(16)}`);
  add("aws-secret-access-key", make.base64(40), (value) => `aws_secret_access_key = ${value}`);
  add("url-password", `${make.alnum(8)}:${make.alnum(12)}`, (value) => `fetch("https://${value}@api.acme.io/v1");`);
  for (const prefix of ["cfk", "cfut", "cfat"]) add("cloudflare-token", `${prefix}_${make.alnum(40)}${make.hex(8)}`);
  for (const scheme of ["mongodb+srv", "mysql", "postgresql"]) {
    add("url-password", `app:${make.alnum(14)}`, (value) => `url: ${scheme}://${value}@db.acme.io/prod`);
  }
  add("databricks-token", `dapi${make.hex(32)}`);
  add("docker-token", `dckr_${"pat"}_${make.base64url(27)}`);
  add("figma-token", `figd_${make.base64url(44)}`);
  for (const prefix of ["ghp", "gho", "ghu", "ghs", "ghr"]) add("github-token", `${prefix}_${make.alnum(36)}`);
  add("github-token", `github_${"pat"}_${make.alnum(22)}_${make.alnum(59)}`);
  add("github-token", `ghs_${make.digits(6)}_${make.jwt()}`);
  add("github-token", make.alnum(30), (value) => `"git+https://${value}:x-oauth-basic@github.com/acme/x.git"`);
  add("gitlab-token", `glpat-${make.base64url(20)}`);
  add("gitlab-token", `gldt-${make.base64url(20)}7a`);
  add("gitlab-token", `glpat-${make.base64url(27)}.01.${make.chars(LOWER + DIGITS, 9)}`);
  add("grafana-token", `glc_eyJ${make.alnum(60)}=`);
  add("grafana-token", `glsa_${make.alnum(32)}_${make.hex(8)}`);
  add("groq-key", `gsk_${make.alnum(52)}`);
  add("vault-token", `hvs.${make.base64url(95)}`);
  add("vault-token", `hvb.${make.base64url(160)}`);
  add("vault-token", `hvr.${make.base64url(95)}`);
  add("huggingface-token", `hf_${make.chars(LOWER + UPPER, 34)}`);
  add("linear-key", `lin_${"api"}_${make.alnum(40)}`);
  add("notion-token", `ntn_${make.digits(11)}${make.alnum(35)}`);
  add("npm-token", `npm_${make.alnum(36)}`);
  add("openai-key", `sk-${"proj"}-${make.base64url(74)}T3Blbk${"FJ"}${make.base64url(74)}`);
  add("openai-key", `sk-${make.alnum(20)}T3Blbk${"FJ"}${make.alnum(20)}`);
  add("sendgrid-key", `SG.${make.alnum(22)}.${make.alnum(43)}`);
  add("shopify-token", `shpat_${make.alnum(32)}`);
  add("slack-token", `xoxb-${make.digits(11)}-${make.digits(12)}-${make.alnum(24)}`);
  add(
    "slack-webhook",
    `T${make.upper(8)}/B${make.upper(10)}/${make.alnum(24)}`,
    (value) => `curl https://hooks.slack.com/${"services"}/${value}`,
  );
  for (const prefix of ["sk_live", "sk_test", "rk_live", "rk_test"]) add("stripe-key", `${prefix}_${make.alnum(24)}`);
  for (const kind of ["api", "auth", "client", "scim", "webhook", "other"]) {
    add("tailscale-key", `tskey-${kind}-${make.alnum(12)}-${make.alnum(32)}`);
  }
  for (const prefix of ["vcp", "vci", "vca", "vcr", "vck"]) add("vercel-token", `${prefix}_${make.alnum(24)}`);
  // octavo's own
  add("google-api-key", `AIza${make.base64url(35)}`);
  add("google-oauth-secret", `GOCSPX-${make.base64url(28)}`);
  add("google-oauth-token", `ya29.${make.base64url(120)}`);
  add("jwt", make.jwt(), (value) => `Authorization: Bearer ${value}`);
  add("pypi-token", `pypi-AgEIcHlwaS5vcmc${make.base64url(100)}`);
  add("huggingface-token", `hf_${make.alnum(34)}`);
  add("huggingface-token", `api_${"org"}_${make.chars(LOWER + UPPER, 34)}`);
  add(
    "npm-token",
    `${make.hex(8)}-${make.hex(4)}-${make.hex(4)}-${make.hex(4)}-${make.hex(12)}`,
    (value) => `//registry.npmjs.org/:${"_auth"}Token=${value}`,
  );
  add("stripe-webhook-secret", `whsec_${make.alnum(32)}`);
  add("slack-token", `xoxe.xoxp-1-${make.alnum(120)}`);
  add(
    "slack-webhook",
    `T${make.upper(8)}/${make.digits(13)}/${make.hex(32)}`,
    (value) => `https://hooks.slack.com/triggers/${value}`,
  );
  add("discord-webhook", make.base64url(68), (value) => `https://discord.com/api/webhooks/${make.digits(18)}/${value}`);
  add("discord-token", `${btoa(make.digits(18))}.${make.base64url(6)}.${make.base64url(38)}`.replace(/^[^MNO]/, "M"));
  add("telegram-token", `${make.digits(10)}:AA${make.base64url(33)}`);
  add("sendgrid-key", `SG.${make.base64url(22)}.${make.base64url(43)}`);
  add("mailchimp-key", `${make.hex(32)}-us12`);
  add("openrouter-key", `sk-or-v1-${make.hex(64)}`);
  add("xai-key", `xai-${make.alnum(80)}`);
  add("replicate-token", `r8_${make.alnum(37)}`);
  add("perplexity-key", `pplx-${make.alnum(48)}`);
  add("anthropic-key", `sk-ant-${"admin01"}-${make.base64url(90)}`);
  add("digitalocean-token", `dop_v1_${make.hex(64)}`);
  add(
    "azure-key",
    `${make.base64(86)}==`,
    (value) => `AccountName=x;AccountKey=${value};EndpointSuffix=core.windows.net`,
  );
  add("azure-client-secret", `${make.alnum(3)}8Q~${make.alnum(34)}`);
  add("atlassian-token", `ATATT3${make.base64url(180)}`);
  add("square-token", `sq0atp-${make.base64url(22)}`);
  add("age-key", `AGE-SECRET-KEY-1${make.upper(58)}`);
  add("sentry-token", `sntryu_${make.hex(64)}`);
  add("newrelic-key", `NRAK-${make.upper(27)}`);
  add("doppler-token", `dp.pt.${make.alnum(43)}`);
  add("postman-key", `PMAK-${make.hex(24)}-${make.hex(34)}`);
  add("terraform-token", `${make.alnum(14)}.atlasv1.${make.alnum(67)}`);
  add("pulumi-token", `pul-${make.hex(40)}`);
  add("rubygems-key", `rubygems_${make.hex(48)}`);
  add("clojars-token", `CLOJARS_${make.hex(60)}`);
  add("netlify-token", `nfp_${make.alnum(36)}`);
  add("supabase-token", `sbp_${make.hex(40)}`);
  add("planetscale-token", `pscale_${"tkn"}_${make.alnum(43)}`);
  add("airtable-token", `pat${make.alnum(14)}.${make.hex(64)}`);
  add("buildkite-token", `bkua_${make.hex(40)}`);
  add("wireguard-key", `${make.base64(42)}8=`, (value) => `PrivateKey = ${value}`);
  add("basic-auth", btoa(`bob:${make.alnum(12)}`), (value) => `Authorization: Basic ${value}`);
  add("url-password", `:${make.alnum(12)}`, (value) => `REDIS=redis://${value}@cache.acme.io:6379/0`);
  add("env-secret", make.hex(64), (value) => `SESSION_${"SECRET"}=${value}`);
  add("env-secret", make.base64(44), (value) => `export APP_${"TOKEN"}="${value}"`);
  // private keys
  for (const kind of ["RSA", "DSA", "EC", "OPENSSH", "ENCRYPTED", "", "ANY"]) {
    const lines = make.privateKey(kind);
    list.push({ rule: "private-key", text: lines.join("\n"), secret: lines[2]! });
  }
  return list;
}
