import { spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { type Command, HeadAndTail, Processes, Sandbox, Workspace } from "@haft/core"
import { bubblewrapSandbox, nodeProcesses, noSandbox } from "@haft/node"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"

import type { Contender, Group } from "../benchmark.ts"

/** Commands: what starting one costs, with and without a sandbox, beside a small and a large host, and a flood of output. */
export const benchmarks: Group = async function* ({ quick }) {
  const root = mkdtempSync(join(tmpdir(), "haft-bench-"))
  const hosts = [noSandbox(), bubblewrapSandbox()].map((sandbox) =>
    ManagedRuntime.make(sandbox.pipe(Layer.provideMerge(Layer.merge(nodeProcesses, Layer.mock(Workspace)({ root })))))
  )
  const [bare, boxed] = hosts
  const echo = { program: "bash", args: ["-c", "echo hi"], directory: root, env: {} }
  const starts =
    (runs: typeof bare): (() => Promise<string>) =>
    () =>
      runIn(runs, echo, 100_000)
  const contenders: ReadonlyArray<Contender> = [
    { name: "bash -c from Node", kind: "limit", run: () => bashFromNode("echo hi"), check: isHi },
    { name: "haft, no sandbox", kind: "haft", run: starts(bare), check: isHi },
    { name: "haft, bubblewrap with everything", kind: "haft", run: starts(boxed), check: isHi }
  ]
  const goal = { contender: "haft, no sandbox", atMost: 1.5 }
  const floor = "bash -c from Node"
  const size = () => {
    const megabytes = Math.round(process.memoryUsage().rss / 1e6)
    return { value: megabytes, label: `host of ${megabytes} MB` }
  }
  yield { group: "commands", name: "echo", size: size(), floor, goal, contenders }

  const ballast = Array.from({ length: quick ? 30 : 100 }, () => Buffer.alloc(1e7, 1))
  yield { group: "commands", name: "echo", size: size(), floor, goal, contenders }
  ballast.length = 0

  const count = quick ? 10_000_000 : 100_000_000
  const flood = { program: "head", args: ["-c", String(count), "/dev/zero"], directory: root, env: {} }
  yield {
    group: "commands",
    name: "output",
    size: { value: count / 1e6, label: `${count / 1e6} MB` },
    floor: "shell pipe",
    goal: { contender: "haft, no sandbox", atMost: 2.5 },
    contenders: [
      {
        name: "shell pipe",
        kind: "limit",
        run: () => bashFromNode(`head -c ${count} /dev/zero | cat > /dev/null; echo hi`),
        check: isHi
      },
      { name: "haft, no sandbox", kind: "haft", run: () => runIn(bare, flood, 100_000), check: isCut },
      { name: "haft, bubblewrap", kind: "haft", run: () => runIn(boxed, flood, 100_000), check: isCut }
    ],
    close: async () => {
      for (const host of hosts) await host.dispose()
      rmSync(root, { recursive: true, force: true })
    }
  }
}

type Host = ManagedRuntime.ManagedRuntime<Sandbox | Processes | Workspace, never> | undefined

const runIn = async (host: Host, command: Command, keep: number): Promise<string> => {
  const kept = new HeadAndTail(keep)
  await host?.runPromise(
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const processes = yield* Processes
      yield* processes.run(yield* sandbox.wrap(command), { onStdout: (chunk) => kept.push(chunk) })
    })
  )
  return kept.finish().text
}

const bashFromNode = (code: string): Promise<string> =>
  new Promise((resolve) => {
    let text = ""
    const bash = spawn("bash", ["-c", code], { stdio: ["ignore", "pipe", "pipe"] })
    bash.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()))
    bash.on("close", () => resolve(text))
  })

const isHi = (answer: unknown): void => {
  if (answer !== "hi\n") throw new Error(`not hi but ${JSON.stringify(answer)}`)
}

const isCut = (answer: unknown): void => {
  if (!String(answer).includes("bytes left out")) throw new Error("the output was not cut")
}
