/**
 * Whether a text is worth a scan for secrets: a look that costs little more than reading it, and that no secret passes
 * unseen. A rule without a hint here finds nothing; the tests have a sample for each rule.
 *
 * @module
 */

/** Words that are in tokens, in front of most of their characters; a dot stands for itself. */
const WORDS = `
  A3T AKIA AGPA AIDA AROA AIPA ANPA ANVA ASIA AIza GOCSPX- ya29. AccountKey= SharedAccessKey= Q~
  ghp_ gho_ ghu_ ghs_ ghr_ github_pat_
  glpat- gldt- glrt- glptt- glft- gloas- glsoat- glcbt- glimt- glagent- glrtr- glwt- glffct-
  xoxa xoxb xoxc xoxd xoxe xoxo xoxp xoxr xoxs xoxx xapp- hooks.slack.com/ discord.com/api/ discordapp.com/api/
  sk_live_ sk_test_ rk_live_ rk_test_ whsec_ shppa_ shpca_ shpat_ shpss_ sq0atp- sq0csp-
  T3BlbkFJ sk-ant- sk-or-v1- xai- pplx- r8_ hf_ api_org_ eyJ ops_ey pypi-Ag rubygems_ CLOJARS_ bkua_
  hvs. hvb. hvr. dckr_pat_ cfk_ cfut_ cfat_ tskey- dapi dop_v1_ doo_v1_ dor_v1_ dot_v1_ .atlasv1. pul- AGE-SECRET-KEY-1
  glc_ glsa_ figd_ lin_api_ ntn_ ATATT3 ATCTT3 sntrys_ sntryu_ NRAK- PMAK- nfp_ sbp_ sbs_
  pscale_tkn_ pscale_pw_ pscale_oauth_ SG. dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.
`.trim().split(/\s+/);

/** What stands in front of a token that has no word in it, and tokens that only their form gives away. */
const FORMS = [
  "(?:npm_|gsk_|vc[piark]_)(?=[A-Za-z]{0,60}\\d)\\w{20}", // names in code begin like this too, and have no digit
  "(?:_authToken|:_auth|:_password)\\s?=",
  "(?:SECRET|[sS]ecret)_?(?:ACCESS|[aA]ccess)_?(?:KEY|[kK]ey)[\"']?\\s*(?::|=>|=)\\s*[\"']?[A-Za-z0-9/+=]{40}",
  "PrivateKey\\s?=\\s?[A-Za-z0-9+/]{42}",
  `(?:SECRET|TOKEN|PASSWORD|PASSWD|KEY)[A-Z0-9_]{0,31}["']?\\s?[=:]\\s?["']?[\\w+/=.~-]{32}`,
  "\\d{8,10}:AA[\\w-]{33}", // Telegram
  "[MNO][DTjz][\\w-]{20,26}\\.[\\w-]{6}\\.", // Discord: base64 of digits
  "pat[A-Za-z0-9]{14}\\.[0-9a-f]{16}", // Airtable
  "[0-9a-f]{16}-us\\d", // Mailchimp
  "PRIVATE KEY|PuTTY-User-Key-File|OpenVPN Static key",
];

/** One expression: it is compiled once, and reads a text faster than anything that looks at each character. */
const HINT = new RegExp(
  `(?:${WORDS.map((word) => word.replaceAll(".", "\\.")).join("|")})[\\w+/=.~%-]{12}|${FORMS.join("|")}`,
);

/** What is in a URL that is a secret or has one in it: scheme and host are there in any case. */
const URLS = /:\/\/(?:hooks\.slack\.com\/|[^\s:/]{0,256}:[^\s/]{1,256}@)/i;

const HEADERS = /[Aa]uthorization.{0,20}[Bb]asic [A-Za-z0-9+/]{12}/;

/** Whether a text is worth a scan: without a hint no rule finds anything in it. */
export function hasHint(text: string): boolean {
  return HINT.test(text) || (text.includes("://") && URLS.test(text)) ||
    (text.includes("uthorization") && HEADERS.test(text));
}
