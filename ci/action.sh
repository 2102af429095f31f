#!/usr/bin/env bash
# What action.yml runs: skips what gets no secrets, fetches the binary, checks its sum, reviews the pull request.
# Everything it is told comes through the environment; it runs nothing of the repository.
set -euo pipefail

# say LEVEL MESSAGE: an annotation. The messages hold no text from outside but in quotes, escaped as GitHub wants it.
say() {
  local text=$2
  text=${text//'%'/%25}
  text=${text//$'\r'/%0D}
  text=${text//$'\n'/%0A}
  printf '::%s title=octavo::%s\n' "$1" "$text"
}

fail() {
  say error "$1"
  exit 2
}

output() {
  printf '%s=%s\n' "$1" "$2" >> "${GITHUB_OUTPUT:-/dev/null}"
}

# GitHub gives no secrets to pull requests from forks and to those of Dependabot (GitHub Docs, "Events that trigger
# workflows", pull_request). A head that is gone was a fork as well. The built-in checks need none.
gets_secrets() {
  [ "${GITHUB_EVENT_NAME:-}" = pull_request ] || return 0
  [ "${GITHUB_ACTOR:-}" != 'dependabot[bot]' ] && [ "${HEAD_REPOSITORY:-}" = "${GITHUB_REPOSITORY:-}" ]
}

sum_of() {
  if command -v sha256sum > /dev/null; then sha256sum < "$1"; else shasum -a 256 < "$1"; fi | cut -d ' ' -f 1
}

# Prints where the binary is.
fetch() {
  local url=$BINARY_URL want folder file got
  want=$(printf '%s' "$BINARY_SHA256" | tr 'A-F' 'a-f')
  folder=$(mktemp -d "${RUNNER_TEMP:-/tmp}/octavo.XXXXXX")
  file=$folder/octavo
  curl --fail --silent --show-error --location --retry 3 --output "$file" --url "$url" || return 1
  got=$(sum_of "$file")
  if [ "$got" != "$want" ]; then
    say error "What is at $url has the SHA-256 $got, not $want: it is not run" >&2
    return 1
  fi
  case $url in
    *.xz) mv "$file" "$file.xz" && xz -d "$file.xz" || return 1 ;;
    *.gz) mv "$file" "$file.gz" && gzip -d "$file.gz" || return 1 ;;
  esac
  chmod +x "$file" || return 1
  printf '%s' "$file"
}

if [ "${OCTAVO_MODEL:-}" != builtin ] && [ "${FORKS:-skip}" != review ] && ! gets_secrets; then
  say notice 'Not reviewed: pull requests from forks and from Dependabot get no secrets, so there is no key for a model. The built-in checks need none: model: builtin'
  output skipped true
  exit 0
fi
output skipped false

octavo=${BINARY_PATH:-}
if [ -z "$octavo" ]; then
  [ -n "${BINARY_URL:-}" ] || fail 'The action needs url and sha256 of the binary, or the path of one that is there'
  [[ ${BINARY_SHA256:-} =~ ^[0-9A-Fa-f]{64}$ ]] || fail 'The action runs no binary without its SHA-256 (64 hexadecimal digits)'
  octavo=$(fetch) || fail 'The binary could not be fetched'
fi

code=0
"$octavo" pr || code=$?
output exit-code "$code"
exit "$code"
