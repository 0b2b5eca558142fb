import { type AsyncWorkspace, defineTool, toolError } from "@haft/core/promise"
import * as z from "zod"

import { readText } from "./runners.ts"

// By the name under which package.json or pyproject.toml mentions it.
const formatters = [
  { name: "prettier", words: ["node", "node_modules/prettier/bin/prettier.cjs", "--write", "--log-level=warn"] },
  { name: "oxfmt", words: ["node", "node_modules/oxfmt/bin/oxfmt"] },
  { name: "@biomejs/biome", words: ["node", "node_modules/@biomejs/biome/bin/biome", "format", "--write"] },
  { name: "ruff", words: ["ruff", "format"] },
  { name: "black", words: ["black", "--quiet"] }
]

export const formatCode = defineTool({
  name: "format_code",
  description: "Format files with the project's own formatter (prettier, oxfmt, biome, ruff or black).",
  input: z.strictObject({ paths: z.array(z.string().min(1)).min(1).max(200).describe("Files to format") }),
  output: z.object({ formatter: z.string(), changed: z.array(z.string()) }),
  risk: "safe_write",
  idempotent: true,
  timeout: "2 minutes",
  touches: async ({ paths }, { workspace }) => {
    const formatter = await findFormatter(workspace)
    return { writes: paths, runs: [...(formatter?.words ?? ["the project's formatter"]), ...paths].join(" ") }
  },
  execute: async ({ paths }, { run, workspace }) => {
    const formatter = await findFormatter(workspace)
    if (formatter === undefined) {
      throw toolError("file_not_found", "no formatter was found for this project", {
        suggestion: "Add prettier, oxfmt, biome, ruff or black to the project, or format by hand."
      })
    }
    const states = (): Promise<ReadonlyArray<string>> => Promise.all(paths.map((path) => workspace.fingerprint(path)))
    const before = await states()
    const [program = "", ...args] = formatter.words
    const end = await run({ program, args: [...args, ...paths.map((path) => `./${path}`)] })
    if (end.exitCode !== 0) {
      throw toolError("command_failed", `${formatter.name} refused: ${end.stderr.text.trim().slice(0, 2000)}`)
    }
    const after = await states()
    return { formatter: formatter.name, changed: paths.filter((_path, index) => before[index] !== after[index]) }
  },
  render: ({ formatter, changed }) => `${formatter} changed ${changed.join(", ") || "nothing"}`
})

const findFormatter = async (workspace: AsyncWorkspace) => {
  const manifests = await Promise.all(["package.json", "pyproject.toml"].map((file) => readText(workspace, file)))
  return formatters.find(({ name }) =>
    manifests.some((text) => text?.includes(`"${name}"`) || text?.includes(`tool.${name}`))
  )
}
