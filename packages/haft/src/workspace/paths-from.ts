import { isAbsolute, posix } from "node:path"

import type { JsonSchema } from "@haft/core"

/** Parameters that are paths, in the words of every dialect and of haft's own plugins. */
const pathNames = new Set(["path", "paths", "base_path", "from", "to", "root", "cwd", "workdir", "directory"])
/** Those that name a directory to work in: where they are absent, it is the one that paths are relative to. */
const directoryNames = new Set(["root", "cwd", "workdir", "directory"])

/**
 * Arguments whose paths are relative to a directory of the workspace, as arguments for the workspace itself. Paths
 * inside a patch are not changed.
 */
export const pathsFrom = (directory: string, args: unknown, schema: JsonSchema | undefined): unknown => {
  if (directory === "" || typeof args !== "object" || args === null || Array.isArray(args)) return args
  const properties = (schema?.["properties"] ?? {}) as Readonly<Record<string, JsonSchema>>
  const given = Object.entries(args).map(([key, value]: [string, unknown]) => [
    key,
    pathNames.has(key) && key in properties ? seenFrom(directory, value) : value
  ])
  const absent = Object.entries(properties)
    .filter(([key, { default: byDefault }]) => !(key in args) && isWorkspace(key, byDefault))
    .map(([key]) => [key, directory])
  return Object.fromEntries([...given, ...absent]) as unknown
}

const isWorkspace = (key: string, byDefault: unknown): boolean =>
  byDefault === "." ? pathNames.has(key) : directoryNames.has(key) && (byDefault ?? null) === null

const seenFrom = (directory: string, value: unknown): unknown => {
  if (Array.isArray(value)) return value.map((one) => seenFrom(directory, one))
  return typeof value !== "string" || isAbsolute(value) ? value : posix.join(directory, value)
}
