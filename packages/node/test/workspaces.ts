import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"

import { CurrentCall, isToolError, Workspace, type WorkspaceService } from "@haft/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"

import { nodeWorkspace, type NodeWorkspaceOptions } from "../src/workspace/workspace.ts"

/** A directory for one test file, with workspaces in it. */
export const makeWorkspaces = (name: string) => {
  const base = mkdtempSync(join(tmpdir(), `haft-${name}-`))
  let count = 0
  return {
    base,
    remove: () => rmSync(base, { recursive: true, force: true }),
    /** Makes a workspace with these files. A content that begins with `-> ` stands for a link. */
    make: (files: Readonly<Record<string, string>>, prepare: (root: string) => void = () => {}): string => {
      const root = join(base, `w${++count}`)
      mkdirSync(root)
      for (const [path, content] of Object.entries(files)) {
        mkdirSync(dirname(join(root, path)), { recursive: true })
        if (content.startsWith("-> ")) symlinkSync(content.slice(3), join(root, path))
        else writeFileSync(join(root, path), content)
      }
      prepare(root)
      return root
    }
  }
}

/** Everything below a directory: files with their content, links with their target, directories as null. */
export const contentsOf = (root: string, below = ""): Record<string, string | null> => {
  const found: Record<string, string | null> = {}
  for (const entry of readdirSync(join(root, below), { withFileTypes: true })) {
    const path = join(below, entry.name)
    if (entry.isSymbolicLink()) found[path] = `-> ${readlinkSync(join(root, path))}`
    else if (entry.isDirectory()) Object.assign(found, { [path]: null }, contentsOf(root, path))
    else found[path] = readFileSync(join(root, path), "utf8")
  }
  return found
}

/** Runs something in a workspace, as part of a call. The state lies beside the root. */
export const inWorkspace = <A, E>(
  root: string,
  use: (workspace: WorkspaceService) => Effect.Effect<A, E>,
  options: Partial<typeof CurrentCall.Service> & { readonly open?: Partial<NodeWorkspaceOptions> } = {}
): Promise<A> => {
  const { open, ...context } = options
  return Effect.runPromise(
    Effect.gen(function* () {
      const workspace = yield* Workspace
      const call = yield* CurrentCall
      return yield* use(workspace).pipe(Effect.provideService(CurrentCall, { ...call, ...context }))
    }).pipe(
      // Without a logger, so that tests don't print that a host had to recover.
      Effect.provide(nodeWorkspace({ root, state: `${root}.state`, ...open }).pipe(Layer.provide(Logger.layer([]))))
    )
  )
}

/** Result, or the code of the failure. */
export const outcome = <A>(effect: Effect.Effect<A, unknown>): Effect.Effect<A | string> =>
  effect.pipe(Effect.catch((error) => Effect.succeed(isToolError(error) ? error.code : String(error))))

/** How many files in a directory this process has open; 0 where that can't be told. */
export const openIn = (directory: string): number => {
  if (process.platform !== "linux") return 0
  return readdirSync("/proc/self/fd").filter((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`).startsWith(`${directory}/`)
    } catch {
      return false
    }
  }).length
}
