import { isObject } from "../../is-object.ts"
import type { Rule } from "../../wire.ts"

/** A rule as a form has it: texts, empty where a condition is absent. */
export interface RuleFields {
  readonly id: string
  readonly tool: string
  readonly decision: string
  /** Patterns, one a line. */
  readonly writes: string
  readonly reads: string
  readonly runs: string
  readonly fetches: string
  readonly connects: string
  /** JSON. */
  readonly exactly: string
  /** Local time, as an input of type datetime-local has it. */
  readonly expires: string
  readonly maximumUses: string
  readonly note: string
  /** All other conditions, as JSON. */
  readonly others: string
}

const touchNames = ["writes", "reads", "runs", "fetches", "connects"] as const

/** Fields that have an input of their own. */
const inForm = new Set(["id", "tool", "decision", "note", "exactly", "expires", "maximumUses"])

/** Fields that haft maintains itself: saving a rule must not change them. */
const kept = new Set(["enabled", "uses", "created"])

/** Tests for a field that decides which calls a rule is about. */
export const isCondition = (name: string): boolean => !kept.has(name) && !notConditions.has(name)

const notConditions = new Set(["id", "decision", "note", "expires", "maximumUses"])

export const fieldsOf = (rule: Rule | undefined): RuleFields => {
  const touches = isObject(rule?.["touches"]) ? rule["touches"] : {}
  const lines = (name: (typeof touchNames)[number]): string => [touches[name] ?? []].flat().map(String).join("\n")
  const otherTouches = entriesWithout(touches, new Set(touchNames))
  const others = {
    ...entriesWithout(rule ?? {}, new Set([...inForm, ...kept, "touches"])),
    ...(Object.keys(otherTouches).length > 0 && { touches: otherTouches })
  }
  return {
    id: rule?.id ?? "",
    tool: rule?.tool ?? "",
    decision: rule?.decision ?? "allow",
    writes: lines("writes"),
    reads: lines("reads"),
    runs: lines("runs"),
    fetches: lines("fetches"),
    connects: lines("connects"),
    exactly: rule?.["exactly"] === undefined ? "" : JSON.stringify(rule["exactly"]),
    expires: rule?.expires === undefined ? "" : localTime(rule.expires),
    maximumUses: rule?.maximumUses === undefined ? "" : String(rule.maximumUses),
    note: rule?.note ?? "",
    others: Object.keys(others).length === 0 ? "" : JSON.stringify(others, undefined, 2)
  }
}

/**
 * The rule that a form describes; what haft keeps about `before` stays. Throws where a field can't be read: a condition
 * that got lost would make a rule allow more than its author thinks.
 */
export const ruleOf = (fields: RuleFields, before?: Rule): Record<string, unknown> => {
  const { touches: otherTouches, ...others } = jsonObject(fields.others, "The other conditions") ?? {}
  const twice = Object.keys(others).find((name) => inForm.has(name) || kept.has(name))
  if (twice !== undefined) throw new Error(`"${twice}" has a field of its own.`)
  const touches: Record<string, unknown> = isObject(otherTouches) ? { ...otherTouches } : {}
  for (const name of touchNames) {
    if (name in touches) throw new Error(`"touches.${name}" has a field of its own.`)
    const lines = fields[name]
      .split("\n")
      .map((line) => line.trim())
      .filter(Boolean)
    if (lines.length > 0) touches[name] = lines.length === 1 ? lines[0] : lines
  }
  const exactly = jsonObject(fields.exactly, "The arguments")
  return {
    ...Object.fromEntries(Object.entries(before ?? {}).filter(([name]) => kept.has(name))),
    ...others,
    id: fields.id,
    ...(fields.tool !== "" && { tool: fields.tool }),
    decision: fields.decision,
    ...(Object.keys(touches).length > 0 && { touches }),
    ...(exactly !== undefined && { exactly }),
    ...(fields.expires !== "" && { expires: new Date(fields.expires).toISOString() }),
    ...(fields.maximumUses !== "" && { maximumUses: Number(fields.maximumUses) }),
    ...(fields.note !== "" && { note: fields.note })
  }
}

const jsonObject = (text: string, what: string): Readonly<Record<string, unknown>> | undefined => {
  if (text.trim() === "") return undefined
  const value = parsed(text)
  if (value === undefined) throw new Error(`${what} are not JSON.`)
  if (!isObject(value)) throw new Error(`${what} must be a JSON object, in braces.`)
  return value
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const entriesWithout = (
  value: Readonly<Record<string, unknown>>,
  names: ReadonlySet<string>
): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(value).filter(([name, inner]) => !names.has(name) && inner !== undefined))

const localTime = (iso: string): string => {
  const time = new Date(iso)
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
