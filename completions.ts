/**
 * Completions for shells, made from the tables of commands and settings.
 *
 * @module
 */

import { rules } from "./checks.ts";
import { type Action, type Command, COMMANDS, type Completion, settingsOf } from "./commands.ts";
import { PRESETS } from "./presets.ts";
import { SECRET_RULES } from "./secret_rules.ts";
import { type Setting, SETTINGS } from "./settings.ts";
import { templateNames } from "./templates.ts";

/** The shells that there are completions for. */
export const SHELLS = ["bash", "zsh", "fish"] as const;

/** A shell that there are completions for. */
export type Shell = typeof SHELLS[number];

/** The completions for a shell, to be read by it. */
export function completions(shell: Shell): string {
  return { bash, zsh, fish }[shell]();
}

// --- what there is to complete -------------------------------------------------------------------------------------

/** What can stand somewhere: one of some words, something that is looked up, or anything. */
type Values = readonly string[] | "conversation" | "file" | "folder" | "question" | "revision" | undefined;

/** A flag, with its dashes. */
interface Flag {
  name: string;
  help: string;
  /** It takes a value. */
  valued: boolean;
  values: Values;
  /** It may be given several times. */
  repeatable: boolean;
}

function valuesOf(kind: Completion | undefined): Values {
  switch (kind) {
    case "command":
      return COMMANDS.map(({ name }) => name);
    case "model":
      return [...PRESETS.map(({ id }) => `${id}/`), "builtin"];
    case "setting":
      return [...SETTINGS.filter(({ file }) => file !== undefined).map(({ key }) => key), "providers."];
    case "template":
      return templateNames();
    default:
      return kind;
  }
}

function flagsOf(command: Command): Flag[] {
  const own = (command.flags ?? []).map(({ flag, placeholder, help, completes }) => ({
    name: `--${flag}`,
    help,
    valued: placeholder !== undefined,
    values: valuesOf(completes),
    repeatable: false,
  }));
  const keys = settingsOf(command);
  return [...own, ...SETTINGS.filter(({ key }) => keys.includes(key)).flatMap(settingFlag), ...EVERYWHERE];
}

/** What settings take that are texts and lists, where it can be listed. */
const VALUES: Readonly<Record<string, Values>> = {
  model: valuesOf("model"),
  checksOff: [...new Set([...rules, ...SECRET_RULES].map(({ id }) => id))],
};

function settingFlag({ flag, kind, key, help }: Setting): Flag[] {
  if (flag === undefined) return [];
  const values = kind.type === "choice" ? kind.choices : VALUES[key];
  return [{ name: `--${flag}`, help, valued: kind.type !== "switch", values, repeatable: kind.type === "list" }];
}

const EVERYWHERE: readonly Flag[] = [
  { name: "-C", help: "run as if started in DIR", valued: true, values: "folder", repeatable: false },
  { name: "--help", help: "show help", valued: false, values: undefined, repeatable: false },
];

/** Every flag that takes a value, once. */
function valuedFlags(): Flag[] {
  const all = COMMANDS.flatMap(flagsOf).filter(({ valued }) => valued);
  return [...new Map(all.map((flag) => [flag.name, flag])).values()];
}

/** A command, or one action of a command. */
interface Place {
  /** `templates`, `templates edit`. */
  name: string;
  values: Values;
  /** It takes more than one word of the kind. */
  several: boolean;
}

function places(): Place[] {
  return COMMANDS.flatMap((command) => {
    const place = (name: string, { completes, maxWords }: Command | Action): Place => ({
      name,
      values: valuesOf(completes),
      several: maxWords > 1 && completes !== "setting",
    });
    return command.actions?.map((action) => place(`${command.name} ${action.name}`, action)) ??
      [place(command.name, command)];
  }).filter(({ values }) => values !== undefined);
}

const REVISIONS = "git for-each-ref --format='%(refname:short)' 2>/dev/null";
const CONVERSATIONS = "octavo log 2>/dev/null | cut -d' ' -f1";

// --- bash ----------------------------------------------------------------------------------------------------------

function bash(): string {
  const valued = valuedFlags();
  const withActions = COMMANDS.filter(({ actions }) => actions);
  return `# Completions of octavo for bash, also as "git octavo". In ~/.bashrc:
#   eval "$(octavo completions bash)"

# Lines on standard input that begin with the current word. They come from a repository: quoted, none is ever executed.
_octavo_lines() {
  local line
  while IFS= read -r line; do
    [[ $line == "$cur"* ]] && COMPREPLY+=("$(printf %q "$line")")
  done
}

# Words of octavo's own.
_octavo_words() {
  COMPREPLY=($(compgen -W "$1" -- "$cur"))
  [[ \${COMPREPLY[0]-} == */ || \${COMPREPLY[0]-} == *. ]] && compopt -o nospace 2>/dev/null
}

_octavo_files() {
  local line
  compopt -o filenames 2>/dev/null
  while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen "$1" -- "$cur")
}

# A question: files behind an @, which bash takes for a word of its own, as it takes a colon.
_octavo_question() {
  if [[ $cur == @ ]]; then cur=''; _octavo_files -f
  elif [[ \${COMP_WORDS[COMP_CWORD-1]} == [@:] ]]; then _octavo_files -f
  fi
}

_octavo_value() {
  case $1 in
${valued.map(({ name, values }) => `    ${name}) ${bashValues(values)} ;;`).join("\n")}
  esac
}

_octavo_flags() {
  case $1 in
${
    COMMANDS.map((command) =>
      `    ${command.name}) _octavo_words '${flagsOf(command).map(({ name }) => name).join(" ")}' ;;`
    ).join("\n")
  }
  esac
}

_octavo() {
  local cur=\${COMP_WORDS[COMP_CWORD]} command='' action='' flag='' count=0 i=1 word
  COMPREPLY=()
  if [[ \${COMP_WORDS[0]##*/} == git ]]; then
    while [[ $i -lt $COMP_CWORD && \${COMP_WORDS[i]} != octavo ]]; do i=$((i + 1)); done
    i=$((i + 1))
  fi
  for (( ; i < COMP_CWORD; i++ )); do
    word=\${COMP_WORDS[i]}
    if [[ -n $flag ]]; then
      [[ $word == '=' ]] || flag=''
      continue
    fi
    case $word in
      ${valued.map(({ name }) => name).join("|")}) flag=$word ;;
      -*) ;;
      *)
        if [[ -z $command ]]; then command=$word
        elif [[ -z $action && ' ${
    withActions.map(({ name }) => name).join(" ")
  } ' == *" $command "* ]]; then action=$word
        else count=$((count + 1))
        fi ;;
    esac
  done
  [[ -n $flag && $cur == '=' ]] && cur=''
  if [[ -n $flag ]]; then _octavo_value "$flag"; return; fi
  if [[ $cur == -* ]]; then _octavo_flags "\${command:-tree}"; return; fi
  if [[ -z $command ]]; then _octavo_words '${COMMANDS.map(({ name }) => name).join(" ")}'; return; fi
  case "$command $action" in
${
    withActions.map(({ name, actions }) =>
      `    '${name} ') _octavo_words '${actions!.map((action) => action.name).join(" ")}'; return ;;`
    ).join("\n")
  }
  esac
  case "\${command}\${action:+ $action} $count" in
${
    places().map(({ name, values, several }) => `    '${name} '${several ? "*" : "0"}) ${bashValues(values)} ;;`).join(
      "\n",
    )
  }
  esac
}

# git's own completions call this one.
_git_octavo() { _octavo; }

complete -F _octavo octavo git-octavo
`;
}

function bashValues(values: Values): string {
  switch (values) {
    case undefined:
      return ":";
    case "revision":
      return `_octavo_lines < <(${REVISIONS})`;
    case "conversation":
      return `_octavo_lines < <(${CONVERSATIONS})`;
    case "file":
      return "_octavo_files -f";
    case "folder":
      return "_octavo_files -d";
    case "question":
      return "_octavo_question";
    default:
      return `_octavo_words '${values.join(" ")}'`;
  }
}

// --- zsh -----------------------------------------------------------------------------------------------------------

function zsh(): string {
  return `#compdef octavo git-octavo
# Completions of octavo for zsh, also as "git octavo". In ~/.zshrc, behind compinit:
#   eval "$(octavo completions zsh)"

_octavo_revisions() {
  local -a names
  names=(\${(f)"$(${REVISIONS})"})
  compadd -a names
}

_octavo_conversations() {
  local -a names
  names=(\${(f)"$(${CONVERSATIONS})"})
  compadd -V conversations -a names
}

# A question: files behind an @.
_octavo_question() {
  compset -P '@(diff:|)' && _files
}

_octavo_commands() {
  local -a commands
  commands=(
${COMMANDS.map(({ name, summary }) => `    ${zshQuoted(`${name}:${summary}`)}`).join("\n")}
  )
  _describe command commands
}

# The flags of everything that reviews.
typeset -ga _octavo_review
_octavo_review=(
${zshFlags(flagsOf(COMMANDS[0]!), "")})

${COMMANDS.map(zshCommand).join("\n\n")}

_octavo() {
  local context state state_descr line curcontext=$curcontext ret=1
  typeset -A opt_args
  _arguments -C "\${_octavo_review[@]}" \\
    '1:command:_octavo_commands' \\
    '*:: :->rest' && ret=0
  [[ $state == rest ]] && (( $+functions[_octavo_\${line[1]}] )) && _octavo_\${line[1]} && ret=0
  return ret
}

# zsh's completions of git call this one.
_git-octavo() { _octavo "$@" }

if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
  _octavo "$@"
else
  compdef _octavo octavo git-octavo
fi
`;
}

function zshCommand(command: Command): string {
  const { name, completes, maxWords, actions } = command;
  const word = zshWord(valuesOf(completes), maxWords);
  if (!actions) {
    return `_octavo_${name}() {\n  _arguments \\\n${zshArguments(command)}    ${word || "&& return"}\n}`;
  }
  const cases = actions.map((action) => {
    const values = valuesOf(action.completes);
    return values === undefined ? [] : [`    ${action.name}) _arguments ${zshWord(values, 1)} ;;`];
  }).flat();
  return `_octavo_${name}() {
  local context state state_descr line curcontext=$curcontext ret=1
  typeset -A opt_args
  local -a octavo_actions
  octavo_actions=(
${actions.map((action) => `    ${zshQuoted(`${action.name}:${action.summary}`)}`).join("\n")}
  )
  _arguments -C \\
${zshArguments(command)}    '1:action:{_describe action octavo_actions}' \\
    '*:: :->rest' && ret=0
  [[ $state == rest ]] && case $line[1] in
${[...cases, "    *) false ;;"].join("\n")}
  esac && ret=0
  return ret
}`;
}

/** The flags of a command as arguments of `_arguments`, a line each. */
function zshArguments(command: Command): string {
  return command.reviews ? '    "${_octavo_review[@]}" \\\n' : zshFlags(flagsOf(command), " \\");
}

function zshFlags(flags: readonly Flag[], end: string): string {
  return flags.map(({ name, help, valued, values, repeatable }) => {
    const option = `${repeatable ? "*" : ""}${name}${valued && name.startsWith("--") ? "=" : ""}`;
    const about = help.replace(/[[\]\\:]/g, "\\$&");
    return `    ${zshQuoted(`${option}[${about}]${valued ? `:value:${zshValues(values)}` : ""}`)}${end}\n`;
  }).join("");
}

function zshWord(values: Values, maxWords: number): string {
  return values === undefined ? "" : zshQuoted(`${maxWords > 1 ? "*" : "1"}:word:${zshValues(values)}`);
}

function zshValues(values: Values): string {
  switch (values) {
    case undefined:
      return " ";
    case "revision":
      return "_octavo_revisions";
    case "conversation":
      return "_octavo_conversations";
    case "question":
      return "_octavo_question";
    case "file":
      return "_files";
    case "folder":
      return "_files -/";
    default:
      return `(${values.join(" ")})`;
  }
}

function zshQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

// --- fish ----------------------------------------------------------------------------------------------------------

function fish(): string {
  const valued = valuedFlags().map(({ name }) => name);
  const withActions = COMMANDS.filter(({ actions }) => actions).map(({ name }) => name);
  return `# Completions of octavo for fish, also as "git octavo". In ~/.config/fish/config.fish:
#   octavo completions fish | source

# The command, and the action if it has some, in front of the cursor.
function __octavo_place
    set -l place
    set -l flag
    for word in (commandline -opc)[2..-1]
        if test -n "$flag"
            set flag
        else if contains -- $word ${valued.join(" ")}
            set flag $word
        else if not string match -q -- '-*' $word
            set -a place $word
            if test (count $place) -eq 2; or not contains -- $word ${withActions.join(" ")}
                break
            end
        end
    end
    string join ' ' $place
end

function __octavo_takes
    set -l command (string split ' ' -- (__octavo_place))[1]
    test -n "$command"; or set command tree
    contains -- $command $argv
end

function __octavo_at
    set -l place (__octavo_place)
    test "$place" = "$argv[1]"
end

# Files behind an @.
function __octavo_question
    set -l word (commandline -ct)
    if string match -q -- '@*' $word
        set -l mark (string match -r -- '^@(?:diff:)?' $word)
        __fish_complete_path (string sub -s (math (string length -- $mark) + 1) -- $word) | string replace -r '^' -- $mark
    end
end

complete -c octavo -f
${
    COMMANDS.map(({ name, summary }) => `complete -c octavo -n '__octavo_at ""' -a ${name} -d ${fishQuoted(summary)}`)
      .join("\n")
  }
${
    COMMANDS.flatMap(({ name, actions }) =>
      (actions ?? []).map((action) =>
        `complete -c octavo -n '__octavo_at ${name}' -a ${action.name} -d ${fishQuoted(action.summary)}`
      )
    ).join("\n")
  }
${places().map(({ name, values }) => `complete -c octavo -n '__octavo_at "${name}"' ${fishValues(values)}`).join("\n")}
${fishFlags().join("\n")}

# "git octavo": git's own completions ask for those of git-octavo.
complete -c git-octavo -w octavo
complete -c git -f -n 'functions -q __fish_git_using_command; and __fish_git_using_command octavo' \
    -a '(__fish_git_complete_custom_command octavo)'
`;
}

/** A line for each flag, with all the commands that take it. */
function fishFlags(): string[] {
  const keyOf = ({ name, help }: Flag) => `${name} ${help}`; // a flag may mean different things to two commands
  const flags = new Map(COMMANDS.flatMap(flagsOf).map((flag) => [keyOf(flag), flag]));
  return [...flags].map(([key, { name, help, valued, values }]) => {
    const takers = COMMANDS.filter((command) => flagsOf(command).some((flag) => keyOf(flag) === key));
    const names = takers.map((command) => command.name).join(" ");
    const where = takers.length === COMMANDS.length ? "" : ` -n '__octavo_takes ${names}'`;
    const option = name.startsWith("--") ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`;
    const value = valued ? ` -x ${fishValues(values)}`.trimEnd() : "";
    return `complete -c octavo${where} ${option}${value} -d ${fishQuoted(help)}`;
  });
}

function fishValues(values: Values): string {
  switch (values) {
    case undefined:
      return "";
    case "revision":
      return `-a ${fishQuoted(`(${REVISIONS})`)}`;
    case "conversation":
      return `-k -a ${fishQuoted(`(${CONVERSATIONS})`)}`;
    case "question":
      return "-a '(__octavo_question)'";
    case "file":
      return "-F";
    case "folder":
      return "-a '(__fish_complete_directories)'";
    default:
      return `-a ${fishQuoted(values.join(" "))}`;
  }
}

function fishQuoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
