import * as z from "zod"

import type { Rule } from "../rules/rule.ts"
import {
  type Carried,
  carryOver,
  commandPrefix,
  commandRule,
  type ImportedRules,
  workspaceGlob
} from "./imported-rules.ts"

const Settings = z.looseObject({
  permissions: z.looseObject({
    allow: z.array(z.string()).default([]),
    ask: z.array(z.string()).default([]),
    deny: z.array(z.string()).default([]),
    defaultMode: z.string().optional(),
    additionalDirectories: z.array(z.string()).default([])
  })
})

export const isClaudeCode = (settings: unknown): boolean => Settings.safeParse(settings).success

/** Rules from the `permissions` of Claude Code's settings. */
export const importClaudeCode = (settings: unknown): ImportedRules => {
  const { permissions } = Settings.parse(settings)
  const { allow, ask, deny, defaultMode, additionalDirectories } = permissions
  const listed = (
    [
      ["allow", allow],
      ["ask", ask],
      ["deny", deny]
    ] as const
  ).flatMap(([decision, rules]) =>
    rules.map((rule) => ({ setting: `${decision} ${rule}`, carried: carriedRule(decision, rule) }))
  )
  const others = [
    ...(defaultMode === undefined ? [] : [{ setting: `defaultMode ${defaultMode}`, carried: modeAdvice(defaultMode) }]),
    ...additionalDirectories.map((directory) => ({
      setting: `additionalDirectories ${directory}`,
      carried: "a workspace has its directories in the configuration, as roots"
    }))
  ]
  return carryOver("claude-code", [...listed, ...others])
}

const modeAdvice = (mode: string): string => {
  const known: Readonly<Record<string, string>> = { default: "ask", acceptEdits: "accept-edits", plan: "plan" }
  const own = known[mode]
  return own === undefined ? "haft has no such mode" : `set "mode": "${own}" in the configuration instead`
}

const carriedRule = (decision: Rule["decision"], written: string): Carried => {
  const [, tool = "", inner] = /^(\w+)(?:\((.*)\))?$/s.exec(written) ?? []
  const isAll = inner === undefined || inner === "*" || inner === "**"
  switch (tool) {
    case "Bash":
      if (!isAll) return bashRule(decision, inner)
      return decision === "allow"
        ? "it would allow every command; see mode auto"
        : { decision, operation: ["run-command", "run-code", "shell", "start-process", "open-terminal"] }
    case "Read":
    case "Grep":
    case "Glob":
    case "LS":
      if (decision === "allow") return "haft does not ask before it reads"
      return isAll ? "it would stop all reading" : pathRule(decision, "reads", inner)
    case "Edit":
    case "Write":
    case "MultiEdit":
    case "NotebookEdit":
      if (isAll && decision === "allow") return 'set "mode": "accept-edits" in the configuration instead'
      return isAll ? { decision, touches: { writes: "**" } } : pathRule(decision, "writes", inner)
    case "WebFetch":
      if (isAll) return decision === "allow" ? "it would allow every host" : { decision, operation: "fetch-url" }
      return inner.startsWith("domain:")
        ? { decision, touches: { fetches: inner.slice("domain:".length) } }
        : "only domain: can be carried over"
    case "WebSearch":
      return { decision, operation: "search-web" }
    default:
      return `haft has no tool like ${tool === "" ? written : tool}`
  }
}

// `npm test`, `npm run test:*` and `npm run *`; a star elsewhere stands for any text there, spaces too.
const bashRule = (decision: Rule["decision"], inner: string): Carried => {
  const prefix = /^(.*?)(?::\*| \*)$/.exec(inner)?.[1]
  if ((prefix ?? inner).includes("*")) return "a * inside a command matches across words there, and not here"
  return commandRule(decision, prefix === undefined ? inner : commandPrefix(prefix))
}

const pathRule = (decision: Rule["decision"], kind: "reads" | "writes", path: string): Carried => {
  const found = workspaceGlob(path)
  return "why" in found ? found.why : { decision, touches: { [kind]: found.glob } }
}
