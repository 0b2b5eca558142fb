import { expect, it } from "vitest"

import { openTools } from "../../test/open-tools.ts"

const hunkCount = 20_000
const lines = Array.from({ length: 2 * hunkCount }, (_, at) => `line ${at}`)

const patch = [
  "--- a/many.txt",
  "+++ b/many.txt",
  ...lines.flatMap((line, at) =>
    at % 2 === 0 ? [`@@ -${at + 1},2 +${at + 1},2 @@`, `-${line}`, `+${line} changed`, ` ${lines[at + 1]}`] : []
  )
].join("\n")

it("apply_patch lets others in between while it works on many hunks", async () => {
  await using tools = await openTools({ "many.txt": `${lines.join("\n")}\n` })
  let turns = 0
  const timer = setInterval(() => turns++, 1)
  const reply = await tools.call("apply_patch", { patch: `${patch}\n` })
  clearInterval(timer)
  expect(reply).toMatchObject({ ok: true })
  expect(turns).toBeGreaterThan(3)
})
