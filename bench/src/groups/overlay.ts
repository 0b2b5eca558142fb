import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { Approver, Host, memoryArtifacts, memoryJournal, use } from "@haft/core"
import { openHost } from "@haft/core/promise"
import { haft } from "@haft/dialects"
import { execTools } from "@haft/exec-tools"
import { bubblewrapSandbox, nodeProcesses, nodeWorkspace, unshareSandbox } from "@haft/node"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

import type { Contender, Group } from "../benchmark.ts"

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
    const [plain, overlaid] = await Promise.all(
      (["never", "always"] as const).map((overlay) => openCommandHost(root, `${state}-${overlay}`, sandbox, overlay))
    )
    if (plain === undefined || overlaid === undefined) return
    const job = (
      command: (run: number) => string,
      goal: Pick<Contender, "atMost" | "within">
    ): ReadonlyArray<Contender> => {
      let run = 0
      return [
        { name: `${kind}, directly`, kind: "limit", run: () => plain.run(command(run++)), check: isSuccess },
        {
          name: `haft, ${kind} on an overlay`,
          kind: "haft",
          ...goal,
          run: () => overlaid.run(command(run++)),
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
      contenders: job(() => "grep -rc needle . | wc -l", { atMost: 1.5 })
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
    await plain.dispose()
    await overlaid.dispose()
  }
  rmSync(base, { recursive: true, force: true })
}

const openCommandHost = async (
  root: string,
  state: string,
  sandbox: typeof bubblewrapSandbox,
  overlay: "never" | "always"
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
