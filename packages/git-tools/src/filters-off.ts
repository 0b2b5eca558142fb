import { runProgram, toolError } from "@haft/core"
import * as Effect from "effect/Effect"

/** More than any project has, and less than an environment takes. */
const mostFilters = 100

/**
 * Variables under which git runs no filter of a repository's configuration. It would, to compare a file with the index,
 * and there is no switch for all of them: each is switched off by its name.
 */
export const filtersOff = Effect.gen(function* () {
  const { stdout } = yield* runProgram({
    program: "git",
    args: ["config", "--null", "--name-only", "--get-regexp", String.raw`^filter\..*\.(clean|process)$`],
    writable: false
  })
  const keys = stdout.text.split("\0").filter((key) => key !== "")
  const filters = [...new Set(keys.map((key) => key.slice(0, key.lastIndexOf("."))))]
  if (stdout.omittedBytes > 0 || filters.length > mostFilters) {
    return yield* toolError("command_failed", `the repository's configuration has more than ${mostFilters} filters`, {
      suggestion: "Ask the person to look at it: filters are programs that git runs."
    })
  }
  const settings = filters.flatMap((filter) => [
    [`${filter}.clean`, ""],
    [`${filter}.process`, ""],
    [`${filter}.required`, "false"]
  ])
  const variables = settings.flatMap(([key = "", value = ""], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value]
  ])
  return Object.fromEntries([["GIT_CONFIG_COUNT", String(settings.length)], ...variables])
})
