import { spawn } from "node:child_process"
import { once } from "node:events"
import { writeFileSync } from "node:fs"
import { join } from "node:path"

import { expect, it } from "@effect/vitest"
import { Host } from "@haft/core"
import { haft } from "@haft/dialects"
import { nodeProcesses } from "@haft/node"
import { temporaryWorkspace } from "@haft/testing"
import * as Effect from "effect/Effect"

import { hostOf } from "../../test/hosts.ts"

const seconds = process.env["HAFT_LONG"] === undefined ? 2 : 30

it.runIf(process.platform === "linux")(
  `shows nothing from outside while a process exchanges a directory for a link, for ${seconds} seconds (not on this platform)`,
  { timeout: 120_000 },
  async () => {
    using workspace = temporaryWorkspace({ "d/file.txt": "hit inside\n", "plain.txt": "hit plain\n" })
    writeFileSync(join(workspace.outside, "file.txt"), "hit secret\n")
    writeFileSync(join(workspace.outside, "other.txt"), "hit secret\n")
    const child = join(import.meta.dirname, "../../test/swap-child.ts")
    const swapper = spawn(process.execPath, [child, join(workspace.root, "d"), workspace.outside], {
      stdio: ["ignore", "pipe", "inherit"]
    })
    const end = once(swapper, "exit")
    await once(swapper.stdout, "data")
    try {
      await Effect.runPromise(
        Effect.gen(function* () {
          const { call } = yield* Host
          const until = Date.now() + seconds * 1000
          for (let round = 0; round < 3 || Date.now() < until; round++) {
            const reply = yield* call("search_text", { query: "hit", context_lines: 1 })
            const { matches } = (reply.wire as { result: { matches: ReadonlyArray<{ path: string }> } }).result
            expect(matches.map(({ path }) => path)).toContain("plain.txt")
            expect(JSON.stringify(reply.wire)).not.toContain("secret")
            const files = yield* call("find_files", { pattern: "**/other.txt" })
            expect(files.wire).toMatchObject({ result: { files: [] } })
          }
        }).pipe(Effect.provide(hostOf(haft, workspace, { processes: nodeProcesses })), Effect.scoped)
      )
    } finally {
      swapper.kill("SIGKILL")
    }
    expect(await end).toEqual([null, "SIGKILL"])
  }
)
