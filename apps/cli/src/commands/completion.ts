import { type Subcommand, commonOptions, type Given, type Option, optionsOf, UsageError } from "../command.ts"
import { withHost } from "../host.ts"
import { print } from "../terminal.ts"

/** The command that prints completion scripts, for the other commands and itself. */
export const completionFor = (commands: ReadonlyArray<Subcommand>): Subcommand => {
  const completion: Subcommand = {
    name: "completion",
    summary: "a completion script for bash, zsh or fish",
    takes: "bash | zsh | fish | parameters TOOL",
    atMost: 2,
    subcommands: ["bash", "zsh", "fish"],
    examples: ["source <(haft completion bash)", "haft completion fish > ~/.config/fish/completions/haft.fish"],
    run: async (given) => {
      const [shell = "", tool] = given.positionals
      if (shell === "parameters" && tool !== undefined) return printParameters(given, tool)
      const script = shells[shell]
      if (script === undefined) throw new UsageError("missing shell: one of bash, zsh, fish")
      print(script([...commands, completion]))
      return 0
    }
  }
  return completion
}

/** Prints a tool's parameters as the scripts offer them: `path=`. */
const printParameters = (given: Given, name: string): Promise<number> =>
  withHost(given, { onlyTool: name, upwards: true }, async ({ tools }) => {
    const schema = tools.find((tool) => tool.name === name)?.inputSchema
    for (const parameter of Object.keys(schema?.["properties"] ?? {})) print(`${parameter}=`)
    return 0
  })

const wordsOf = (command: Subcommand): string =>
  [...(command.subcommands ?? []), ...Object.keys(optionsOf(command)).map((name) => `--${name}`)].join(" ")

// The options whose values can be completed: from choices, or as a path. Only common options with their short form:
// other commands may use the same letter for something else.
const valuesOf = (commands: ReadonlyArray<Subcommand>): ReadonlyArray<readonly [string, Option]> => {
  const found = new Map<string, Option>()
  for (const command of commands) {
    for (const [name, option] of Object.entries(optionsOf(command))) {
      const short = Object.hasOwn(commonOptions, name) && option.short !== undefined ? `|-${option.short}` : ""
      if (option.choices !== undefined || isPath(option)) found.set(`--${name}${short}`, option)
    }
  }
  return [...found]
}

const isPath = ({ value }: Option): boolean => value === "DIR" || value === "FILE"

const bashValue = ([names, { choices, value }]: readonly [string, Option]): string =>
  choices === undefined
    ? `    ${names}) COMPREPLY=($(${paths(value === "DIR" ? "d" : "f", "$start")})); return ;;`
    : `    ${names}) words="${choices.join(" ")}" ;;`

// zsh's own compgen ignores the word it is given, and completes what is in PREFIX.
const paths = (kind: "d" | "f", start: string): string => `PREFIX="$word"; compgen -P "${start}" -${kind} -- "$word"`

const bash = (commands: ReadonlyArray<Subcommand>): string => `_haft() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" words="" start="" command="" first="" value="" at
  local -a where
  # bash takes --option=value and key=value for three words, zsh for one.
  case "$word" in
    =) word="" value=1 ;;
    @*) ;;
    *=*) before="\${word%%=*}" start="\${word%%=*}=" word="\${word#*=}" value=1 ;;
    *) [ "$before" = "=" ] && before="\${COMP_WORDS[COMP_CWORD-2]}" value=1 ;;
  esac
  for ((at = 1; at < COMP_CWORD; at++)); do
    case "\${COMP_WORDS[at]}" in
      ${toolsAreOf.join("|")}) where+=("\${COMP_WORDS[at]}" "\${COMP_WORDS[at+1]}"); at=$((at + 1)) ;;
      ${takesValue(commands)}) at=$((at + 1)) ;;
      -*) ;;
      *) if [ -z "$command" ]; then command="\${COMP_WORDS[at]}"; else first="\${first:-\${COMP_WORDS[at]}}"; fi ;;
    esac
  done
  case "$before" in
${valuesOf(commands).map(bashValue).join("\n")}
    help) words="${commands.map(({ name }) => name).join(" ")}" ;;
  esac
  case "$word" in @*) word="\${word#@}"; COMPREPLY=($(${paths("f", "$start@")})); return ;; esac
  if [ "$command" = call ] && [ -n "$first" ] && [ -z "$words" ] && [ -n "$value" ]; then
    COMPREPLY=($(${paths("f", "$start")})); return
  fi
  if [ -z "$words" ]; then
    case "$command" in
      "") words="${commands.map(({ name }) => name).join(" ")}" ;;
${commands.map((command) => `      ${command.name}) words="${wordsOf(command)}" ;;`).join("\n")}
    esac
    if [ "$command" = call ] && [ -n "$first" ] && [ "\${word#-}" = "$word" ]; then
      words="$(haft completion parameters "$first" "\${where[@]}" 2>/dev/null)"
      compopt -o nospace 2>/dev/null
    elif [ "$command" = call ] && [ "\${word#-}" = "$word" ]; then
      words="$(haft tools --json "\${where[@]}" 2>/dev/null | sed -n 's/^    "name": "\\(.*\\)",$/\\1/p')"
    fi
  fi
  COMPREPLY=($(compgen -P "$start" -W "$words" -- "$word"))
}
complete -F _haft haft`

// Options that decide which tools there are: they are passed on to `haft tools`.
const toolsAreOf = Object.entries<Option>(commonOptions)
  .filter(([name]) => ["workspace", "dialect", "config"].includes(name))
  .flatMap(([name, { short }]) => [`--${name}`, `-${short}`])

const takesValue = (commands: ReadonlyArray<Subcommand>): string => {
  const options = new Map(commands.flatMap((command) => Object.entries<Option>(optionsOf(command))))
  return [...options]
    .filter(([, { value }]) => value !== undefined)
    .map(([name]) => `--${name}`)
    .join("|")
}

const shells: Readonly<Record<string, (commands: ReadonlyArray<Subcommand>) => string>> = {
  bash,
  // The bash script works in zsh too, once zsh's completion and its emulation of bash's are loaded.
  zsh: (commands) =>
    `(( $+functions[compdef] )) || { autoload -Uz compinit && compinit -u }\n` +
    `autoload -U +X bashcompinit && bashcompinit\n${bash(commands)}`,
  fish: (commands) =>
    [
      "complete -c haft -f",
      ...commands.map(
        ({ name, summary }) =>
          `complete -c haft -n __fish_use_subcommand -a ${name} -d '${summary.replaceAll("'", "")}'`
      ),
      ...commands.flatMap((command) => {
        const when = `complete -c haft -n '__fish_seen_subcommand_from ${command.name}'`
        const words = command.subcommands === undefined ? [] : [`${when} -a '${command.subcommands.join(" ")}'`]
        return [...words, ...Object.entries(optionsOf(command)).map((option) => `${when} ${fishOption(option)}`)]
      }),
      fishTools,
      "complete -c haft -n '__fish_seen_subcommand_from call' -a '(__haft_tools)'",
      "complete -c haft -n '__fish_seen_subcommand_from call' -a '(__haft_parameters)'"
    ].join("\n")
}

const fishTools = `function __haft_tools
  set -l words (commandline -opc)
  set -l where
  for at in (seq (count $words))
    contains -- $words[$at] ${toolsAreOf.join(" ")}; and set -a where $words[$at] $words[(math $at + 1)]
  end
  haft tools --json $where 2>/dev/null | sed -n 's/^    "name": "\\(.*\\)",$/\\1/p'
end
function __haft_parameters
  set -l token (commandline -ct)
  if string match -q '*=*' -- $token
    set -l parts (string split -m 1 = -- $token)
    for path in $parts[2]*
      echo $parts[1]=$path
    end
    return
  end
  set -l words (commandline -opc)
  set -l at (contains -i -- call $words); or return
  test (count $words) -gt $at; and haft completion parameters $words[(math $at + 1)] 2>/dev/null
end`

const fishOption = ([name, { short, value, choices, describe }]: readonly [string, Option]): string =>
  [
    `-l ${name}`,
    ...(short === undefined ? [] : [`-s ${short}`]),
    ...(choices !== undefined
      ? [`-x -a '${choices.join(" ")}'`]
      : value === "DIR"
        ? ["-x -a '(__fish_complete_directories)'"]
        : value === "FILE"
          ? ["-r -F"]
          : value === undefined
            ? []
            : ["-x"]),
    `-d '${describe.replaceAll("'", "")}'`
  ].join(" ")
