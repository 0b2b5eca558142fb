import { describe, expect, it } from "vitest"

import { ruleAdvice } from "./rule-advice.ts"

const adviceOn = (runs: string | ReadonlyArray<string>, decision: "allow" | "deny" = "allow") =>
  ruleAdvice({ id: "r", decision, touches: { runs } } as Parameters<typeof ruleAdvice>[0])

describe("ruleAdvice", () => {
  it.each([
    "env **",
    "/usr/bin/env *",
    "xargs **",
    "sudo -n **",
    "bash -c *",
    "python3 **",
    "npx **",
    "npm exec **",
    "uv run **",
    "find . -exec **",
    "timeout 5 **",
    "**",
    "* **"
  ])("warns that %j allows any command", (command) => {
    expect(adviceOn(command)).toEqual([expect.stringContaining(`'${command}' allows any command`)])
    expect(adviceOn(command, "deny")).toEqual([])
  })

  it.each(["git status **", "npm test", "npm run *", "env FOO=1 node --version", "ls **", "cargo test **"])(
    "has nothing to say of %j",
    (command) => {
      expect(adviceOn(command)).toEqual([])
    }
  )

  it("says that a star within a word matches no further words", () => {
    expect(adviceOn(["git status*", "xargs **"])).toEqual([
      expect.stringContaining("For any further words write 'git status **'"),
      expect.stringContaining("xargs runs what its arguments say")
    ])
  })
})
