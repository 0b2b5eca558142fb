import { createHash } from "node:crypto"

/** A tool as a host publishes it. */
interface PublishedTool {
  readonly name: string
  readonly inputSchema: unknown
  readonly replySchema: unknown
}

/**
 * A hash of every tool's schemas, by dialect and name, so that a change of any contract shows in a diff. Descriptions
 * don't count: they are advice, not an interface.
 */
export const toolHashes = (
  tools: ReadonlyMap<string, ReadonlyArray<PublishedTool>>
): Readonly<Record<string, Readonly<Record<string, string>>>> =>
  Object.fromEntries(
    [...tools].map(([dialect, list]) => [
      dialect,
      Object.fromEntries(list.map(({ name, inputSchema, replySchema }) => [name, hashOf([inputSchema, replySchema])]))
    ])
  )

const hashOf = (schemas: unknown): string =>
  createHash("sha256")
    .update(JSON.stringify(canonical(schemas, false)))
    .digest("hex")
    .slice(0, 16)

// In the order of the keys. A property may itself be called `description`.
const canonical = (value: unknown, isProperties: boolean): unknown => {
  if (Array.isArray(value)) return value.map((item) => canonical(item, false))
  if (typeof value !== "object" || value === null) return value
  return Object.entries(value)
    .filter(([key]) => isProperties || key !== "description")
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, inner]) => [key, canonical(inner, key === "properties")])
}
