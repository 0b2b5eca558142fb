import type { Program } from "@haft/core"
import type { AsyncWorkspace } from "@haft/core/promise"

import { parseJestJson, parseJunit, type TestOutcome } from "./test-outcome.ts"

/** How to run a project's tests, and how to read the output. */
export interface Runner {
  readonly name: string
  readonly command: (filter: string | undefined) => Pick<Program, "program" | "args">
  readonly read: (stdout: string) => TestOutcome | undefined
}

const javascript = (name: string, script: string, options: ReadonlyArray<string>): Runner => ({
  name,
  command: (filter) => ({
    program: "node",
    args: [script, ...options, ...(filter === undefined ? [] : ["--testNamePattern", filter])]
  }),
  read: parseJestJson
})

const runners: Readonly<Record<string, Runner>> = {
  vitest: javascript("vitest", "node_modules/vitest/vitest.mjs", ["run", "--reporter=json"]),
  jest: javascript("jest", "node_modules/jest/bin/jest.js", ["--json", "--silent"]),
  node: {
    name: "node",
    command: (filter) => ({
      program: "node",
      args: ["--test", "--test-reporter=junit", ...(filter === undefined ? [] : ["--test-name-pattern", filter])]
    }),
    read: parseJunit
  },
  pytest: {
    name: "pytest",
    command: (filter) => ({
      program: "python3",
      args: ["-m", "pytest", "-q", "--junitxml=/dev/stdout", ...(filter === undefined ? [] : ["-k", filter])]
    }),
    read: parseJunit
  }
}

/** The test runner that a project uses, judging by its files. */
export const findRunner = async (workspace: AsyncWorkspace): Promise<Runner | undefined> => {
  const manifest = await readText(workspace, "package.json")
  if (manifest !== undefined) {
    if (/"vitest"\s*:/.test(manifest)) return runners["vitest"]
    if (/"jest"\s*:/.test(manifest)) return runners["jest"]
    return runners["node"]
  }
  const python = await Promise.all(
    ["pyproject.toml", "pytest.ini", "setup.cfg"].map((file) => readText(workspace, file))
  )
  return python.some((text) => text !== undefined) ? runners["pytest"] : undefined
}

/** The text of a small file; undefined if there is none, or it can't be read. */
export const readText = (workspace: AsyncWorkspace, path: string): Promise<string | undefined> =>
  workspace.read(path, { maxBytes: 1_000_000 }).then(
    (bytes) => new TextDecoder().decode(bytes),
    () => undefined
  )
