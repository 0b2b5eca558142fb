import { type Command, commonOptions, type Option, optionsOf, UsageError } from "../command.ts"
import { print } from "../terminal.ts"

/** Completion needs to know the other commands, so it is made from them. */
export const completionFor = (commands: ReadonlyArray<Command>): Command => {
  const completion: Command = {
    name: "completion",
    summary: "a completion script for bash, zsh or fish",
    takes: "bash | zsh | fish",
    atMost: 1,
    subcommands: ["bash", "zsh", "fish"],
    examples: ["source <(haft completion bash)", "haft completion fish > ~/.config/fish/completions/haft.fish"],
    run: async ({ positionals: [shell = ""] }) => {
      const script = shells[shell]
      if (script === undefined) throw new UsageError("which shell? One of: bash, zsh, fish")
      print(script([...commands, completion]))
      return 0
    }
  }
  return completion
}

const wordsOf = (command: Command): string =>
  [...(command.subcommands ?? []), ...Object.keys(optionsOf(command)).map((name) => `--${name}`)].join(" ")

// What may follow an option: words, or the name of a directory or file. A short form that two commands use differently is left out.
const valuesOf = (commands: ReadonlyArray<Command>): ReadonlyArray<readonly [string, Option]> => {
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
    ? `    ${names}) COMPREPLY=($(compgen -${value === "DIR" ? "d" : "f"} -- "$word")); return ;;`
    : `    ${names}) words="${choices.join(" ")}" ;;`

const bash = (commands: ReadonlyArray<Command>): string => `_haft() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" words=""
  case "$before" in
${valuesOf(commands).map(bashValue).join("\n")}
    help) words="${commands.map(({ name }) => name).join(" ")}" ;;
    call) words="$(haft tools --json 2>/dev/null | sed -n 's/^    "name": "\\(.*\\)",$/\\1/p')" ;;
  esac
  case "$word" in @*) COMPREPLY=($(compgen -P @ -f -- "\${word#@}")); return ;; esac
  if [ -z "$words" ]; then
    case "\${COMP_WORDS[1]}" in
${commands.map((command) => `      ${command.name}) words="${wordsOf(command)}" ;;`).join("\n")}
    esac
  fi
  [ "$COMP_CWORD" = 1 ] && words="${commands.map(({ name }) => name).join(" ")}"
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -F _haft haft`

const shells: Readonly<Record<string, (commands: ReadonlyArray<Command>) => string>> = {
  bash,
  // bash's own script works there, once both of zsh's completion systems are awake.
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
      `complete -c haft -n '__fish_seen_subcommand_from call' -a '(haft tools --json 2>/dev/null | sed -n "s/^    \\"name\\": \\"\\(.*\\)\\",/\\1/p")'`
    ].join("\n")
}

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
