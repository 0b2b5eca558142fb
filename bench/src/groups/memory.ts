import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import type { Group } from "../benchmark.ts"
import { expectPositive } from "../expect.ts"
import { contenderOf, type RunningServer, startServers } from "../mcp/servers.ts"
import { residentMemory } from "../resident-memory.ts"

/** The memory of a server that has answered many reads, 64 at a time. If it grows with the calls, that is a leak. */
export const benchmarks: Group = async function* (setting) {
  const root = mkdtempSync(join(tmpdir(), "haft-bench-memory-"))
  const file = join(root, "a.txt")
  writeFileSync(file, "a line of text\n".repeat(4000))
  for (const calls of setting.quick ? [500] : [100, 1000, 10_000]) {
    const { running, absent, close } = await startServers(setting, root, "read")
    // A server that takes a tenth of a second for a read is left out where there are thousands.
    const patient = running.filter(({ server }) => calls <= 100 || !server.name.includes("desktop-commander"))
    yield {
      group: "memory",
      name: "after reads of 60 KB",
      size: { value: calls, label: `${calls.toLocaleString("en-US")} calls` },
      measures: "bytes",
      floor: "bare JSON lines",
      absent,
      contenders: patient.map((one) =>
        contenderOf(one.server, {
          run: onlyOnce(async () => {
            await readOften(one, file, calls)
            return residentMemory(one.client.pid)
          }),
          check: expectPositive
        })
      )
    }
    await close()
  }
  rmSync(root, { recursive: true })
}

const readOften = async ({ server, client }: RunningServer, file: string, calls: number): Promise<void> => {
  let left = calls
  const lane = async (): Promise<void> => {
    while (left-- > 0) if (server.read !== undefined) await client.call(server.read(file))
  }
  await Promise.all(Array.from({ length: 64 }, lane))
}

/** Does the work once, and returns the same figure however often it is asked for. */
const onlyOnce = <A>(work: () => Promise<A>): (() => Promise<A>) => {
  let result: Promise<A> | undefined
  return () => (result ??= work())
}
