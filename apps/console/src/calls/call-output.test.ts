import { expect, it } from "vitest"

import { outputIn } from "./call-output.ts"

it.each([
  [
    "haft's",
    { ok: true, result: { exit_code: 0, stdout: "a\nb\n", stderr: "" } },
    [{ name: "stdout", text: "a\nb\n" }]
  ],
  [
    "agentbench's",
    { status: "success", data: { stdout: "a", stderr: "b" } },
    [
      { name: "stdout", text: "a" },
      { name: "stderr", text: "b" }
    ]
  ],
  ["approvalgate's", { ok: true, value: { stdout: "a" } }, [{ name: "stdout", text: "a" }]],
  ["cliagent's", { success: true, output: "a" }, [{ name: "output", text: "a" }]],
  [
    "a terminal's",
    { result: { output: "\u001B[31mred\u001B[0m\u001B]0;title\u0007 text" } },
    [{ name: "output", text: "red text" }]
  ],
  ["a reader's", { ok: true, result: { content: "a" } }, []],
  ["no", undefined, []]
])("is found in %s reply", (_, reply, found) => {
  expect(outputIn(reply)).toEqual(found)
})
