import { toolError, withVariables } from "@haft/core"
import * as Effect from "effect/Effect"

import { runCode as runCodeScript } from "../embedded-scripts.ts"
import { type CommandRequest, runCommand } from "../run-command/run-command.ts"
import { sandboxMark, sandboxRemark } from "../run-command/sandbox-mark.ts"

export type CodeLanguage = "python" | "bash"

export interface CodeRequest extends Pick<CommandRequest, "env" | "timeoutMs" | "network" | "writable" | "onFailure"> {
  readonly language: CodeLanguage
  readonly code: string
  readonly args: ReadonlyArray<string>
}

const interpreters: Readonly<Record<CodeLanguage, { readonly names: string; readonly file: string }>> = {
  python: { names: "python3 python", file: "main.py" },
  bash: { names: "bash", file: "main.sh" }
}

/** Runs code as a file in a directory of its own, with an interpreter that is looked up inside the sandbox. */
export const runCode = Effect.fnUntraced(function* ({ language, code, args, ...rest }: CodeRequest) {
  if (code.includes("\0")) {
    return yield* toolError("invalid_params", "parameter 'code': contains a NUL character, which no program can")
  }
  const { names, file } = interpreters[language]
  const outcome = yield* runCommand({
    ...rest,
    command: `${language} ${args.join(" ")}`.trimEnd(),
    words: ["sh", "-c", runCodeScript, "sh", names, file, ...args],
    stdin: code
  })
  if (outcome.exitCode === 127 && outcome.stderr.text === noInterpreter) {
    return yield* toolError("command_not_found", `there is no ${language} in the sandbox`, {
      suggestion: `Install ${language} where the sandbox sees it, or use another language.${sandboxRemark(outcome)}`,
      details: { language, ...sandboxMark(outcome) }
    })
  }
  return outcome
})

/** Command that stands for the code in rules: an interpreter that runs its argument. */
export const codeAsCommand = ({
  language,
  code,
  args,
  env = {}
}: Pick<CodeRequest, "language" | "code" | "args" | "env">): string =>
  withVariables([language, "-c", ...[code, ...args].map(quoted)].join(" "), env)

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

const noInterpreter = "haft: no interpreter\n"
