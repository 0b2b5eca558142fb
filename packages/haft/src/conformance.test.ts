import { expect, it } from "@effect/vitest"
import { execTools } from "@haft/exec-tools"
import { fsTools } from "@haft/fs-tools"
import { searchTools } from "@haft/search-tools"

import { dialectNames } from "./dialects.ts"
import { type ExampleCall, testPlugin } from "./testing.ts"

const files = { "a.txt": "one\ntwo\n", "sub/b.txt": "two\n" }
const call = (tool: string, args: Readonly<Record<string, unknown>>): ExampleCall => ({ tool, args, dialect: "haft" })

// All dialects when there is time. Calls in the other ones are made up: of most of those tools only schemas and
// parameters are tried.
const dialects = process.env["HAFT_LONG"] === "1" ? dialectNames : (["haft"] as const)

it.each([
  {
    plugin: fsTools,
    calls: [
      call("list_dir", { path: "." }),
      call("read_file", { path: "a.txt" }),
      call("write_file", { path: "new/c.txt", content: "three\n" }),
      call("delete_path", { path: "a.txt" }),
      call("move_path", { from: "a.txt", to: "c.txt" }),
      call("create_directory", { path: "made" })
    ]
  },
  { plugin: searchTools, calls: [call("find_files", { pattern: "*.txt" }), call("search_text", { query: "two" })] },
  { plugin: execTools, calls: [call("run_command", { command: "true" })] }
])("$plugin.name conforms", { timeout: 120_000 }, async ({ plugin, calls }) => {
  expect((await testPlugin<undefined>(plugin as never, { files, calls, dialects, sandbox: "none" })).problems).toEqual(
    []
  )
})
