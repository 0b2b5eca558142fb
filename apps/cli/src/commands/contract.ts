import { resolve } from "node:path"

import { type Subcommand, UsageError } from "../command.ts"
import { print, printJson } from "../terminal.ts"

export const contract: Subcommand = {
  name: "contract",
  summary: "what a tool package promises: whether a change breaks it, and whether the waiting changeset says so",
  takes: "check [DIR...] | lock [DIR...]",
  subcommands: ["check", "lock"],
  examples: ["haft contract check", "haft contract check packages/fs-tools --json", "haft contract lock"],
  run: async (given) => {
    const [verb = "check", ...named] = given.positionals
    const { checkContract, lockContract, showContractCheck } = await import("haft/internal")
    const directories = (named.length === 0 ? ["."] : named).map((one) => resolve(given.value("workspace") ?? ".", one))
    if (verb === "lock") {
      const locks = []
      for (const directory of directories) locks.push(await lockContract(directory))
      if (given.has("json")) printJson(locks)
      else
        for (const { plugin, tools } of locks)
          print(`✓ ${plugin}: ${Object.keys(tools).length} tools are locked as they are`)
      return 0
    }
    if (verb !== "check") throw new UsageError(`unknown subcommand '${verb}'; expected check or lock`)
    const checks = await Promise.all(directories.map(checkContract))
    if (given.has("json")) printJson(checks)
    else for (const check of checks) print(showContractCheck(check))
    return checks.every(({ ok }) => ok) ? 0 : 1
  }
}
