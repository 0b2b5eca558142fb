import { type Command, optionsOf, UsageError } from "../command.ts"
import { print } from "../terminal.ts"

/** Completion needs to know the other commands, so it is made from them. */
export const completionFor = (commands: ReadonlyArray<Command>): Command => {
  const completion: Command = {
    name: "completion",
    summary: "a completion script for bash, zsh or fish",
    takes: "bash | zsh | fish",
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

const choicesOf = (commands: ReadonlyArray<Command>): ReadonlyArray<readonly [string, ReadonlyArray<string>]> => {
  const found = new Map<string, ReadonlyArray<string>>()
  for (const command of commands) {
    for (const [name, { choices }] of Object.entries(optionsOf(command))) if (choices) found.set(`--${name}`, choices)
  }
  return [...found]
}

const bash = (commands: ReadonlyArray<Command>): string => `_haft() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" words=""
  case "$before" in
${choicesOf(commands)
  .map(([option, choices]) => `    ${option}) words="${choices.join(" ")}" ;;`)
  .join("\n")}
    --workspace|--state) COMPREPLY=($(compgen -d -- "$word")); return ;;
    --config|--log) COMPREPLY=($(compgen -f -- "$word")); return ;;
    call) words="$(haft tools --json 2>/dev/null | sed -n 's/^    "name": "\\(.*\\)",$/\\1/p')" ;;
  esac
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
      ...commands.map(
        (command) => `complete -c haft -n '__fish_seen_subcommand_from ${command.name}' -a '${wordsOf(command)}'`
      ),
      `complete -c haft -n '__fish_seen_subcommand_from call' -a '(haft tools --json 2>/dev/null | sed -n "s/^    \\"name\\": \\"\\(.*\\)\\",/\\1/p")'`,
      ...choicesOf(commands).map(
        ([option, choices]) => `complete -c haft -l ${option.slice(2)} -x -a '${choices.join(" ")}'`
      )
    ].join("\n")
}
