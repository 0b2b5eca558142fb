import type { Facts } from "@haft/core"
import { expect, it } from "vitest"

import { severityOf } from "./severity.ts"

const path = (name: string, exists = true, isProtected = false) => ({ path: name, exists, isProtected })

it.each<[Partial<Facts>, string, ReadonlyArray<string>]>([
  [{}, "low", []],
  [{ writes: [path("a", false)] }, "low", ["Creates 1 file"]],
  [{ writes: [path("a"), path("b", false)] }, "moderate", ["Modifies 1 existing file", "Creates 1 file"]],
  [{ writes: [path("a")], removedFiles: 1 }, "moderate", ["Deletes or moves 1 file"]],
  [{ writes: [path("d")], removedFiles: 50 }, "high", ["Deletes or moves 50 files"]],
  [
    { writes: [path(".git/config", true, true)] },
    "critical",
    ["Changes .git/config, which other programs run or trust", "Modifies 1 existing file"]
  ],
  [{ runs: "ls", confined: "read_only" }, "low", ["Runs a command that can only read"]],
  [{ runs: "ls", confined: "overlay" }, "moderate", ["Runs a command that can be undone"]],
  [{ runs: "ls", confined: "workspace" }, "high", ["Runs a command whose changes can't be undone"]],
  [{ runs: "ls", network: true }, "critical", ["Runs a command with network access"]],
  [{ types: { terminal: "1", text: "x" } }, "high", ["Types into a terminal, which can't be undone"]],
  [{ fetches: "https://a.example/x" }, "high", ["Sends a request to a.example"]],
  [{ fetches: "nonsense" }, "high", ["Sends a request to an unknown host"]]
])("the severity of %j is %s", (facts, level, reasons) => {
  expect(severityOf({ risk: "dangerous", reads: [], writes: [], ...facts })).toEqual({ level, reasons })
})
