import { openHost } from "@haft/core/promise"
import { temporaryWorkspace } from "@haft/testing"
import * as fc from "fast-check"
import { standardHost } from "haft/internal"

import { type Attack, forSeconds, none } from "../attack.ts"
import { fingerprint } from "../odd-workspace.ts"

const files = {
  "a.txt": Array.from({ length: 40 }, (_, index) => `line ${index + 1}\n`).join(""),
  "sub/b.txt": "one\r\ntwo\r\nthree\r\n",
  "c.txt": "no newline at the end"
}

const valid = [
  `--- a/a.txt\n+++ b/a.txt\n@@ -2,5 +2,5 @@\n line 2\n line 3\n-line 4\n+LINE 4\n line 5\n line 6\n@@ -20,3 +20,4 @@\n line 20\n+line 20.5\n line 21\n line 22\n`,
  `--- a/sub/b.txt\n+++ b/sub/b.txt\n@@ -1,3 +1,3 @@\n one\r\n-two\r\n+TWO\r\n three\r\n--- /dev/null\n+++ b/new/d.txt\n@@ -0,0 +1,2 @@\n+x\n+y\n--- a/c.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-no newline at the end\n\\ No newline at end of file\n`,
  `*** Begin Patch\n*** Update File: a.txt\n@@ line 9\n line 10\n-line 11\n+LINE 11\n*** Add File: e.txt\n+new\n*** Delete File: c.txt\n*** Update File: sub/b.txt\n*** Move to: sub/f.txt\n@@\n-one\n+ONE\n*** End Patch\n`
]

const tools = [
  { dialect: "haft", tool: "apply_patch", key: "patch" },
  { dialect: "agentbench", tool: "apply_patch", key: "unified_diff" },
  { dialect: "toolrouter", tool: "apply_patch_json", key: "patch" },
  { dialect: "toolrouter", tool: "apply_patch_freeform", key: "patch" }
] as const

/** Applies mutations of valid patches. Each must be applied as a whole, or be refused without any change. */
export const attack: Attack = async function* ({ seconds, seed }) {
  const problems: Array<string> = []
  let applied = 0
  const counts: Array<number> = []
  for (const { dialect, tool, key } of tools) {
    const workspace = temporaryWorkspace(files)
    const host = await openHost(
      standardHost({ root: workspace.root, state: workspace.state, dialect, approval: "all" })
    )
    const outside = fingerprint(workspace.outside)
    let made: Array<string> = []
    counts.push(
      await forSeconds(seconds / tools.length, async (round) => {
        if (made.length === 0) made = fc.sample(mutated, { seed: seed + round, numRuns: 50 })
        const patch = made.pop() ?? ""
        const before = fingerprint(workspace.root)
        const { ok, error } = await host.call(tool, { [key]: patch })
        const isChanged = fingerprint(workspace.root) !== before
        const shown = `${dialect} ${tool} ${JSON.stringify(patch)}`
        if (!ok && isChanged) problems.push(`${shown}: ${error?.code}, and files changed`)
        if (error?.code === "internal_error") problems.push(`${shown}: internal_error`)
        if (fingerprint(workspace.outside) !== outside) problems.push(`${shown}: something outside changed`)
        if (!ok) return
        applied++
        for (const [path, text] of Object.entries(files)) workspace.put(path, text)
      })
    )
    await host.dispose()
    workspace.remove()
  }
  const count = counts.reduce((one, other) => one + other, 0)
  yield none(
    "mutated patches that end in a bug, or change a file and fail",
    `${count} patches, ${applied} applied`,
    problems
  )
}

const snippet = fc.oneof(
  fc.constantFrom(
    "@@",
    "---",
    "+++",
    "\n",
    "\r\n",
    "-",
    "+",
    " ",
    "*** ",
    "\\ No newline at end of file\n",
    "../",
    "/dev/null",
    "\0",
    "\u2028",
    "a/",
    "@@ -0,0 +0,0 @@\n",
    "@@ -1,99999999999 +1,1 @@\n",
    "rename from a.txt\nrename to z.txt\n",
    "GIT binary patch\n",
    "*** End of File\n"
  ),
  fc.string({ unit: "binary", maxLength: 6 }),
  fc.constantFrom(...valid)
)

const step = fc.oneof(
  fc.record({ kind: fc.constant("insert" as const), at: fc.nat(), text: snippet }),
  fc.record({ kind: fc.constant("remove" as const), at: fc.nat(), length: fc.integer({ min: 1, max: 30 }) }),
  fc.record({ kind: fc.constant("line" as const), at: fc.nat(), how: fc.constantFrom("drop", "double", "swap") }),
  fc.record({
    kind: fc.constant("number" as const),
    at: fc.nat(),
    value: fc.constantFrom("0", "1", "7", "999999", "-3", "1e9", "")
  })
)
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

const mutated: fc.Arbitrary<string> = fc
  .tuple(fc.constantFrom(...valid), fc.array(step, { minLength: 1, maxLength: 4 }))
  .map(([patch, steps]) => steps.reduce(mutate, patch))

const mutate = (patch: string, step: Step): string => {
  if (step.kind === "number") {
    const numbers = [...patch.matchAll(/\d+/g)]
    const match = numbers[step.at % Math.max(1, numbers.length)]
    if (match === undefined) return patch
    return patch.slice(0, match.index) + step.value + patch.slice(match.index + match[0].length)
  }
  if (step.kind === "line") {
    const lines = patch.split("\n")
    const at = step.at % lines.length
    const line = lines[at] ?? ""
    const next = lines[at + 1] ?? ""
    const changed = { drop: [], double: [line, line], swap: [next, line] }[step.how] ?? []
    return lines.toSpliced(at, step.how === "swap" ? 2 : 1, ...changed).join("\n")
  }
  const at = step.at % (patch.length + 1)
  return step.kind === "insert"
    ? patch.slice(0, at) + step.text + patch.slice(at)
    : patch.slice(0, at) + patch.slice(at + step.length)
}
