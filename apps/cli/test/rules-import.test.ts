import { temporaryWorkspace } from "@haft/testing"
import { expect, it } from "vitest"

import { haft, placeOf } from "./haft.ts"

it("imports the permissions of Claude Code as rules, lists what can't be carried over, and adds nothing twice", async () => {
  const permissions = { allow: ["Bash(npm test)", "Bash"], deny: ["Read(.env)"] }
  using workspace = temporaryWorkspace({ ".claude/settings.json": JSON.stringify({ permissions }) })
  const file = `${workspace.root}/.claude/settings.json`
  const first = await haft(["rules", "import", file, ...placeOf(workspace)])
  expect(first.stdout).toContain("2 of 3 settings of claude-code are rules now")
  expect(first.stdout).toContain("1 can't be carried over:\n  allow Bash: it would allow every command")
  const again = await haft(["rules", "import", file, "--json", ...placeOf(workspace)])
  expect(JSON.parse(again.stdout)).toMatchObject({
    source: "claude-code",
    added: [],
    known: [{}, {}].map(() => expect.any(String))
  })
  const listed = JSON.parse((await haft(["rules", "list", "--json", ...placeOf(workspace)])).stdout) as object
  expect(listed).toMatchObject([
    { decision: "allow", operation: "run-command", touches: { runs: "npm test" } },
    { decision: "deny", touches: { reads: "**/.env" } }
  ])
  const wrong = await haft(["rules", "import", file, "--from", "codex", ...placeOf(workspace)])
  expect(wrong.stdout).toContain("0 of 0 settings of codex")
  const other = await haft(["rules", "import", file, "--from", "vs-code", ...placeOf(workspace)])
  expect([other.code, other.stderr]).toEqual([2, expect.stringContaining("not settings that can be imported")])
  const missing = await haft(["rules", "import", `${file}x`, ...placeOf(workspace)])
  expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining("can't be read")])
})
