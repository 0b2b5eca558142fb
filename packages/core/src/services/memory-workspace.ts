import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

import { directoriesAbove } from "../text/directories-above.ts"
import { toolError } from "../tool-error.ts"
import { commitChanges } from "./change-plan.ts"
import { containIn, type Files, fingerprintOf, infoIn, MemoryPlan } from "./memory-plan.ts"
import { type DirectoryEntry, type FileKind, type ReadError, type ScannedFile, Workspace } from "./workspace.ts"

/**
 * A workspace in memory, for tests and for tools that need no disk. It has files and the directories
 * they imply, no links, no permissions and no history.
 */
export const memoryWorkspace = (initial: Readonly<Record<string, string | Uint8Array>> = {}): Layer.Layer<Workspace> =>
  Layer.sync(Workspace, () => {
    const files: Files = new Map(Object.entries(initial).map(([path, content]) => [path, bytesOf(content)]))

    const info = (given: string) => infoIn(files, given)

    const read = Effect.fnUntraced(function* (given: string, options?: { readonly maxBytes?: number }) {
      const { path, kind, size } = yield* info(given)
      if (kind === "directory") return yield* toolError("is_directory", `${path} is a directory`, { details: { path } })
      if (size > (options?.maxBytes ?? size)) {
        return yield* toolError("file_too_large", `${path} has ${size} bytes`, { details: { path, size } })
      }
      return files.get(path) ?? new Uint8Array()
    })

    const list = Effect.fnUntraced(function* (given: string) {
      const { path, kind } = yield* info(given)
      if (kind !== "directory")
        return yield* toolError("not_a_directory", `${path} is not a directory`, { details: { path } })
      const prefix = path === "." ? "" : `${path}/`
      const names = new Map<string, DirectoryEntry>()
      for (const name of files.keys()) {
        if (!name.startsWith(prefix)) continue
        const [first = "", ...rest] = name.slice(prefix.length).split("/")
        names.set(first, { name: first, kind: rest.length > 0 ? "directory" : "file" })
      }
      return [...names.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1))
    })

    const fingerprint = (given: string) =>
      info(given).pipe(
        Effect.map(({ path, kind }) =>
          kind === "directory" ? "directory" : fingerprintOf(files.get(path) ?? new Uint8Array())
        ),
        Effect.catchIf(
          (error) => error.code === "file_not_found",
          () => Effect.succeed("absent")
        )
      )

    const newPlan = Effect.sync(() => new MemoryPlan(files))
    return {
      root: "/memory",
      roots: [{ name: "", path: "/memory", access: "write" as const }],
      contain: containIn,
      isSecret: () => false,
      info,
      read,
      readEach: Effect.fnUntraced(function* (paths, visit, options) {
        for (const path of paths) {
          const content = yield* read(path, options).pipe(Effect.catch((error) => Effect.succeed(error)))
          if (!visit(path, content)) return
        }
      }),
      snapshot: (path) =>
        Effect.map(Effect.all([info(path), read(path)]), ([found, content]) => ({
          info: found,
          content,
          fingerprint: fingerprintOf(content)
        })),
      scan: (path, visit, { fingerprintUpTo = -1 } = {}) =>
        Effect.flatMap(read(path), (content) => {
          const isWhole = visit(content)
          const isWanted = isWhole && content.length <= fingerprintUpTo
          return Effect.map(info(path), (found) =>
            isWanted ? { ...found, fingerprint: fingerprintOf(content) } : found
          )
          // Without `maxBytes` no file is too large to be read.
        }) as Effect.Effect<ScannedFile, ReadError>,
      list,
      walk: Effect.fnUntraced(function* (path, visit) {
        const root = yield* containIn(path)
        yield* list(root)
        const prefix = root === "." ? "" : `${root}/`
        const inside = [...files.keys()]
          .filter((name) => name.startsWith(prefix))
          .map((name) => name.slice(prefix.length))
        const entries = new Map<string, FileKind>(inside.flatMap(directoriesAbove).map((above) => [above, "directory"]))
        for (const name of inside) entries.set(name, "file")
        const passedOver: Array<string> = []
        for (const [name, kind] of [...entries].toSorted(([one], [other]) => (one < other ? -1 : 1))) {
          if (passedOver.some((directory) => name.startsWith(`${directory}/`))) continue
          const parts = name.split("/")
          const step = visit({ path: name, name: parts.at(-1) ?? name, kind, depth: parts.length - 1 })
          if (step === "stop") return
          if (step === "skip") passedOver.push(name)
        }
      }),
      glob: () => toolError("invalid_pattern", "a workspace in memory has no globs"),
      fingerprint,
      plan: newPlan,
      commit: (changes) => commitChanges(newPlan, changes),
      undo: () => toolError("no_history", "a workspace in memory keeps no history"),
      previewUndo: () => toolError("no_history", "a workspace in memory keeps no history")
    }
  })

const bytesOf = (content: string | Uint8Array): Uint8Array =>
  typeof content === "string" ? new TextEncoder().encode(content) : content
