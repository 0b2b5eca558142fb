import { spawn } from "node:child_process"
import { once } from "node:events"
import { symlinkSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

import { afterAll, expect, it } from "@effect/vitest"
import type { Change, WorkspaceService } from "@haft/core"
import * as Effect from "effect/Effect"

import { contentsOf, inWorkspace, makeWorkspaces, outcome } from "../../test/workspaces.ts"

const workspaces = makeWorkspaces("race")
afterAll(workspaces.remove)

const seconds = process.env["HAFT_LONG"] === undefined ? 2 : 30
const secret = "secret ".repeat(100)

/** Effects that a call on a path inside could have on, or learn from, the directory outside. */
const attacks: ReadonlyArray<(workspace: WorkspaceService, round: number) => Effect.Effect<unknown, unknown>> = [
  (workspace) => workspace.read("d/inner/file.txt"),
  (workspace) =>
    workspace.readEach(Array<string>(8).fill("d/inner/file.txt"), (_path, content) =>
      content instanceof Uint8Array && isSecret(content) ? escaped("content") : true
    ),
  (workspace) => workspace.scan("d/inner/file.txt", (chunk) => !isSecret(chunk)),
  (workspace) => workspace.fingerprint("d/inner/file.txt"),
  (workspace) => workspace.info("d/inner/file.txt"),
  (workspace) => workspace.list("d/inner"),
  (workspace) => workspace.walk("d", ({ name }) => (name === "outside.txt" ? escaped(name) : "continue")),
  (workspace) => workspace.glob("d", "**/*"),
  (workspace, round) =>
    commit(workspace, { kind: "write", path: "d/inner/file.txt", content: bytes(`inside ${round}`) }),
  (workspace, round) =>
    commit(workspace, { kind: "write", path: `d/inner/new${round % 7}.txt`, content: bytes("new") }),
  (workspace) => commit(workspace, { kind: "delete", path: "d/inner/outside.txt" }),
  (workspace, round) => commit(workspace, { kind: "delete", path: `d/inner/new${round % 5}.txt` }),
  (workspace) => commit(workspace, { kind: "move", from: "d/inner/outside.txt", to: "stolen.txt" }),
  (workspace) => commit(workspace, { kind: "move", from: "plain.txt", to: "d/inner/given.txt" }),
  (workspace) => commit(workspace, { kind: "move", from: "d/inner/given.txt", to: "plain.txt" }),
  (workspace) => commit(workspace, { kind: "create_directory", path: "d/inner/made" }),
  (workspace) => commit(workspace, { kind: "delete", path: "d/inner/made", recursive: true })
]

it.runIf(process.platform === "linux")(
  `lets nothing out while a process swaps a directory for a link, for ${seconds} seconds (Linux only: elsewhere the technique is weaker)`,
  { timeout: 120_000 },
  async () => {
    const outside = workspaces.make({ "file.txt": secret, "outside.txt": secret, "deep/x.txt": secret })
    const root = workspaces.make({ "d/inner/file.txt": "inside", "plain.txt": "plain" }, (root) => {
      symlinkSync(outside, join(root, "d/link"))
    })
    const before = contentsOf(outside)
    const child = join(dirname(fileURLToPath(import.meta.url)), "../../test/race-child.ts")
    const swapper = spawn(process.execPath, [child, join(root, "d")], { stdio: ["ignore", "pipe", "inherit"] })
    const end = once(swapper, "exit")
    await once(swapper.stdout, "data")
    const counts = { done: 0, refused: 0 }
    try {
      await inWorkspace(
        root,
        Effect.fnUntraced(function* (workspace) {
          const until = Date.now() + seconds * 1000
          for (let round = 0; Date.now() < until; round++) {
            for (const attack of attacks) {
              const result = yield* outcome(attack(workspace, round))
              if (typeof result === "string") counts.refused++
              else counts.done++
              if (result instanceof Uint8Array && isSecret(result)) escaped("content")
              if (Array.isArray(result) && result.some(isOutsideEntry)) escaped("a name")
            }
          }
        }),
        { open: { durable: false } }
      )
    } finally {
      swapper.kill("SIGKILL")
    }
    expect(await end).toEqual([null, "SIGKILL"])
    expect(contentsOf(outside)).toEqual(before)
    expect(Math.min(counts.done, counts.refused)).toBeGreaterThan(0)
  }
)

const bytes = (text: string) => new TextEncoder().encode(text)
const commit = (workspace: WorkspaceService, change: Change) => workspace.commit([change])
const isSecret = (chunk: Uint8Array): boolean => Buffer.from(chunk).includes("secret")
const isOutsideEntry = (entry: unknown): boolean =>
  typeof entry === "object" &&
  entry !== null &&
  "name" in entry &&
  (entry.name === "outside.txt" || entry.name === "deep")
const escaped = (what: string): never => {
  throw new Error(`${what} from outside was seen`)
}
