import { lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { Approver, Host, memoryArtifacts, memoryJournal, use } from "@haft/core"
import { openHost } from "@haft/core/promise"
import { haft } from "@haft/dialects"
import { execTools } from "@haft/exec-tools"
import { bubblewrapSandbox, nodeProcesses, nodeWorkspace, unshareSandbox } from "@haft/node"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

import type { Benchmark, Contender, Group } from "../benchmark.ts"

/** Commands that write to the workspace directly and on an overlay, which commits what they changed. */
export const benchmarks: Group = async function* ({ quick }) {
  const base = mkdtempSync(join(tmpdir(), "haft-bench-"))
  const root = join(base, "root")
  const files = quick ? 2000 : 80_000
  for (let directory = 0; directory < files / 100; directory++) {
    mkdirSync(join(root, `d${directory}`), { recursive: true })
    for (let file = 0; file < 100; file++) {
      writeFileSync(join(root, `d${directory}`, `f${file}.txt`), `file ${file} of ${directory}\n`.repeat(20))
    }
  }
  const size = { value: files, label: `${files} files in the workspace` }
  for (const [kind, sandbox] of [
    ["bubblewrap", bubblewrapSandbox],
    ["unshare", unshareSandbox]
  ] as const) {
    const state = join(base, `state-${kind}`)
    const open = (overlay: "never" | "always" | "auto") =>
      openCommandHost(root, `${state}-${overlay}`, sandbox, overlay)
    const [plain, overlaid, automatic] = await Promise.all([open("never"), open("always"), open("auto")])
    const job = (
      command: (run: number) => string,
      goal: Pick<Contender, "atMost" | "within">,
      { name, host } = { name: `haft, ${kind} on an overlay`, host: overlaid }
    ): ReadonlyArray<Contender> => {
      let run = 0
      return [
        { name: `${kind}, directly`, kind: "limit", run: () => plain.run(command(run++)), check: isSuccess },
        {
          name,
          kind: "haft",
          ...goal,
          run: () => host.run(command(run++)),
          check: isSuccess
        }
      ]
    }
    const floor = `${kind}, directly`
    const one = (run: number) => `echo ${run} > d1/f1.txt`
    const added = 15e6
    yield {
      group: "overlay",
      name: "change one file",
      size,
      floor,
      contenders: job(one, { within: (await medianOf(() => plain.run(one(-1)))) + added })
    }
    yield {
      group: "overlay",
      name: "grep -r",
      size,
      floor,
      // It only reads, so it gets the workspace without an overlay.
      contenders: job(
        () => "grep -rc needle . | wc -l",
        { atMost: 1.5 },
        { name: `haft, ${kind} by its own choice`, host: automatic }
      )
    }
    yield {
      group: "overlay",
      name: "change 2,000 files",
      size,
      floor,
      contenders: job(
        (run) => `for i in $(seq 0 19); do for j in $(seq 0 99); do echo ${run} > d$i/f$j.txt; done; done`,
        {}
      )
    }
    for (const host of [plain, overlaid, automatic]) await host.dispose()
  }
  yield* branchBenchmarks(root, join(base, "state-branches"), size)
  rmSync(base, { recursive: true, force: true })
}

/** Eight branches of one workspace: the time to make them, and their room on the disk. */
async function* branchBenchmarks(root: string, state: string, size: NonNullable<Benchmark["size"]>) {
  const names = Array.from({ length: 8 }, (_, index) => `attempt-${index}`)
  const { openBranches } = await import("haft/promise")
  await using branches = await openBranches({ root, state, approval: "all" })
  const make = async (): Promise<number> => {
    for (const name of names) await branches.create(name)
    const bytes = diskBytes(join(state, "branches"))
    for (const name of names) await branches.drop(name)
    return bytes
  }
  const plain = (): number => {
    for (const name of names) mkdirSync(join(state, "plain", name, "upper"), { recursive: true })
    const bytes = diskBytes(join(state, "plain"))
    rmSync(join(state, "plain"), { recursive: true })
    return bytes
  }
  const isSmall = (bytes: unknown): void => {
    if (typeof bytes !== "number" || bytes === 0) throw new Error("no branches")
  }
  const contenders = (within: number): Benchmark["contenders"] => [
    { name: "mkdir", kind: "limit", run: plain, check: isSmall },
    { name: "haft", kind: "haft", within, run: make, check: isSmall }
  ]
  const shared = { group: "overlay", size, floor: "mkdir" } as const
  yield { ...shared, name: "create and drop 8 branches", contenders: contenders(1e9) }
  yield { ...shared, name: "disk space of 8 branches", measures: "bytes" as const, contenders: contenders(1e6) }
}

/** Room that a directory and all in it take on the disk. */
const diskBytes = (directory: string): number =>
  [directory, ...readdirSync(directory, { recursive: true }).map((name) => join(directory, String(name)))]
    .map((path) => lstatSync(path).blocks * 512)
    .reduce((sum, bytes) => sum + bytes, 0)

const openCommandHost = async (
  root: string,
  state: string,
  sandbox: typeof bubblewrapSandbox,
  overlay: "never" | "always" | "auto"
) => {
  const files = nodeWorkspace({ root, state, durable: false })
  const services = Layer.mergeAll(
    memoryJournal(),
    memoryArtifacts(),
    Layer.succeed(Approver, {
      judge: () => Effect.succeed({ decision: "allow", reason: "a benchmark" }),
      ask: () => Effect.succeed({ approved: true })
    }),
    sandbox({ state }).pipe(Layer.provideMerge(Layer.merge(nodeProcesses, files)))
  )
  const host = await openHost(
    Host.layer({ dialect: haft, plugins: [use(execTools, { overlay })] }).pipe(Layer.provide(services))
  )
  return {
    run: async (command: string) => (await host.call("run_command", { command, timeout_ms: 120_000 })).output,
    dispose: () => host.dispose()
  }
}

const isSuccess = (output: unknown): void => {
  if ((output as { readonly exit_code?: number } | undefined)?.exit_code !== 0) throw new Error(JSON.stringify(output))
}

/** In nanoseconds, of as many runs as a figure needs. */
const medianOf = async (run: () => Promise<unknown>): Promise<number> => {
  const times: Array<number> = []
  for (let count = 0; count < 15; count++) {
    const begin = performance.now()
    await run()
    times.push(performance.now() - begin)
  }
  return (times.toSorted((one, other) => one - other)[7] ?? 0) * 1e6
}
