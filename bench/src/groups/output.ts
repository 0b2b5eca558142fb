import type { Group } from "../benchmark.ts"
import { bashFromNode, openCommandHosts } from "../command-hosts.ts"
import { expectText } from "../expect.ts"

/** A command with very much output. The floor is a pipe in the shell that reads and discards it. */
export const benchmarks: Group = async function* ({ quick }) {
  const { bare, boxed, close } = openCommandHosts()
  for (const megabytes of quick ? [10] : [1, 10, 100, 1000]) {
    const bytes = megabytes * 1e6
    const flood = { program: "head", args: ["-c", String(bytes), "/dev/zero"] }
    yield {
      group: "output",
      name: "a flood of output",
      size: { value: megabytes, label: `${megabytes} MB` },
      floor: "shell pipe",
      contenders: [
        {
          name: "shell pipe",
          kind: "limit",
          run: () => bashFromNode(`head -c ${bytes} /dev/zero | cat > /dev/null; echo done`),
          check: expectText("done")
        },
        {
          name: "haft, no sandbox",
          kind: "haft",
          atMost: 2.5,
          run: () => bare(flood),
          check: expectText("bytes left out")
        },
        { name: "haft, bubblewrap", kind: "haft", run: () => boxed(flood), check: expectText("bytes left out") }
      ]
    }
  }
  await close()
}
