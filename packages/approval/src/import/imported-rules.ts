import { createHash } from "node:crypto"

import { Rule } from "../rules/rule.ts"
import { compileRules } from "../rules/rules.ts"

/** Something of another program's settings that no rule of haft says. */
export interface SkippedSetting {
  readonly setting: string
  readonly why: string
}

export interface ImportedRules {
  readonly rules: ReadonlyArray<Rule>
  readonly skipped: ReadonlyArray<SkippedSetting>
}

/** A setting as a rule, or why there is none for it. */
export type Carried = Readonly<Record<string, unknown>> | string

/**
 * Makes rules of settings. Each has an id that follows from what it says, so that importing twice adds nothing; what does
 * not compile is skipped with the reason.
 */
export const carryOver = (
  source: string,
  settings: ReadonlyArray<{ readonly setting: string; readonly carried: Carried }>
): ImportedRules => {
  const rules = new Map<string, Rule>()
  const skipped: Array<SkippedSetting> = []
  for (const { setting, carried } of settings) {
    if (typeof carried === "string") {
      skipped.push({ setting, why: carried })
      continue
    }
    const digest = createHash("sha256").update(JSON.stringify(carried)).digest("hex").slice(0, 8)
    const rule = Rule.safeParse({ ...carried, id: `${source}-${digest}`, note: `from ${source}: ${setting}` })
    const problem = rule.success ? problemOf(rule.data) : "it can't be written as a rule"
    if (rule.success && problem === undefined) rules.set(rule.data.id, rule.data)
    else skipped.push({ setting, why: problem ?? "" })
  }
  return { rules: [...rules.values()], skipped }
}

const problemOf = (rule: Rule): string | undefined => {
  try {
    compileRules([rule])
    return undefined
  } catch (cause) {
    return cause instanceof Error ? cause.message : "it can't be compiled"
  }
}

/** A command prefix as a condition: any further words may follow. */
export const commandPrefix = (words: string): string => `${words.trim()} **`

/** Rules that allow are about `run-command`; those that ask or deny about everything that runs commands. */
export const commandRule = (decision: Rule["decision"], runs: string): Carried => {
  if (/[;&|<>$()`\n"'\\]/.test(runs)) return "only simple commands without quotes can be carried over"
  return decision === "allow"
    ? { decision, operation: "run-command", touches: { runs } }
    : { decision, touches: { runs } }
}

/** A path of another program's settings as a glob of the workspace, or why it is none. */
export const workspaceGlob = (path: string): { readonly glob: string } | { readonly why: string } => {
  if (/^(?:\/\/|~|[A-Za-z]:)/.test(path)) return { why: "it is about a path outside the workspace" }
  const relative = path.replace(/^(?:\.?\/)+/, "")
  if (relative === "" || relative.split("/").includes("..")) return { why: "it is about a path outside the workspace" }
  if (relative.startsWith("!")) return { why: "haft has no globs that take something out again" }
  // Without a slash a pattern matches at any depth, as in .gitignore.
  const glob = relative.includes("/")
    ? relative
    : path.startsWith("/") || path.startsWith("./")
      ? relative
      : `**/${relative}`
  return { glob: glob.endsWith("/") ? `${glob}**` : glob }
}
