import type { Contender, Group } from "../benchmark.ts"
import { bashFromNode, openCommandHosts } from "../command-hosts.ts"
import { expectSame } from "../expect.ts"

/** Starting a command, with and without a sandbox, from a process with little and with much memory. */
export const benchmarks: Group = async function* ({ quick }) {
  const { bare, boxed, close } = openCommandHosts()
  const check = expectSame("hi\n")
  const echo = { program: "bash", args: ["-c", "echo hi"] }
  const contenders: ReadonlyArray<Contender> = [
    { name: "bash -c from Node", kind: "limit", run: () => bashFromNode("echo hi"), check },
    { name: "haft, no sandbox", kind: "haft", atMost: 1.5, run: () => bare(echo), check },
    { name: "haft, bubblewrap with everything", kind: "haft", within: 20e6, run: () => boxed(echo), check }
  ]
  const floor = "bash -c from Node"
  // Node forks to start a program, and a fork copies the page table, which grows with the memory of the process.
  const ballast: Array<Buffer> = []
  for (const megabytes of quick ? [0, 300] : [0, 300, 1000]) {
    while (ballast.length * 10 < megabytes) ballast.push(Buffer.alloc(1e7, 1))
    const label = megabytes === 0 ? "small host" : `host with ${megabytes} MB more`
    yield { group: "commands", name: "echo", size: { value: megabytes, label }, floor, contenders }
  }
  await close()
}
