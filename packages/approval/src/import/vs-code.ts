import type { Rule } from "../rules/rule.ts"
import {
  type Carried,
  carryOver,
  commandPrefix,
  commandRule,
  type ImportedRules,
  workspaceGlob
} from "./imported-rules.ts"

const terminal = "chat.tools.terminal.autoApprove"
const edits = "chat.tools.edits.autoApprove"
const urls = "chat.tools.urls.autoApprove"
const everything = ["chat.tools.global.autoApprove", "chat.tools.autoApprove"]

export const isVsCode = (settings: unknown): boolean =>
  isObject(settings) && [terminal, edits, urls, ...everything].some((name) => Object.hasOwn(settings, name))

/** Rules from VS Code's settings of what its chat tools may do: true allows, false asks. */
export const importVsCode = (settings: unknown): ImportedRules => {
  const given = isObject(settings) ? settings : {}
  const entriesOf = (name: string, carry: (key: string, decision: Rule["decision"], isPlain: boolean) => Carried) =>
    Object.entries(isObject(given[name]) ? given[name] : {}).flatMap(([key, value]) => {
      const setting = `${name} ${key}`
      if (value === null) return []
      const wish: unknown = isObject(value) ? (value["approve"] ?? value["approveRequest"]) : value
      if (typeof wish !== "boolean") return [{ setting, carried: "its value can't be read" }]
      return [{ setting, carried: carry(key, wish ? "allow" : "ask", !isObject(value)) }]
    })
  return carryOver("vs-code", [
    ...entriesOf(terminal, (key, decision, isPlain) => {
      if (/^\/.*\/[a-z]*$/s.test(key)) return "expressions over command lines can't be carried over"
      if (!isPlain) return "it is about the whole command line, which haft judges by its parts"
      return key.includes("*") ? "a * can't be carried over" : commandRule(decision, commandPrefix(key))
    }),
    ...entriesOf(edits, (key, decision) => {
      const found = workspaceGlob(key)
      return "why" in found ? found.why : { decision, touches: { writes: found.glob } }
    }),
    ...entriesOf(urls, (key, decision) => ({ decision, touches: { fetches: key.replace(/\/$/, "") } })),
    ...everything
      .filter((name) => given[name] === true)
      .map((name) => ({ setting: name, carried: "it would allow everything; see the setting `approval`" }))
  ])
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
