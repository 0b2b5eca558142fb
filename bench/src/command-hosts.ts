import { spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { type Command, HeadAndTail, Processes, Sandbox, Workspace } from "@haft/core"
import { bubblewrapSandbox, nodeProcesses, noSandbox } from "@haft/node"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"

type Program = Pick<Command, "program" | "args">

/**
 * Runs programs as the exec tools do, without (`bare`) and with a sandbox (`boxed`), and returns their clipped output.
 */
export const openCommandHosts = () => {
  const root = mkdtempSync(join(tmpdir(), "haft-bench-"))
  const runIn = (sandbox: Layer.Layer<Sandbox, never, Processes | Workspace>) => {
    const runtime = ManagedRuntime.make(
      sandbox.pipe(
        Layer.provideMerge(
          Layer.merge(
            nodeProcesses,
            Layer.mock(Workspace)({ root, roots: [], isSecret: () => false, secretFiles: () => [] })
          )
        )
      )
    )
    const run = async (program: Program): Promise<string> => {
      const kept = new HeadAndTail(100_000)
      await runtime.runPromise(
        Effect.gen(function* () {
          const { wrap } = yield* Sandbox
          const processes = yield* Processes
          const command = yield* wrap({ ...program, directory: root, env: {} })
          yield* processes.run(command, { onStdout: (chunk) => kept.push(chunk) })
        })
      )
      return kept.finish().text
    }
    return { run, dispose: () => runtime.dispose() }
  }
  const [bare, boxed] = [runIn(noSandbox()), runIn(bubblewrapSandbox())]
  return {
    bare: bare.run,
    boxed: boxed.run,
    close: async (): Promise<void> => {
      await bare.dispose()
      await boxed.dispose()
      rmSync(root, { recursive: true, force: true })
    }
  }
}

/** The output of a line of bash, started with Node's plain `spawn`. */
export const bashFromNode = (code: string): Promise<string> =>
  new Promise((resolve) => {
    let text = ""
    const bash = spawn("bash", ["-c", code], { stdio: ["ignore", "pipe", "pipe"] })
    bash.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()))
    bash.on("close", () => resolve(text))
  })
