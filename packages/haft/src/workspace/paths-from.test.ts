import { expect, it } from "@effect/vitest"
import { gitTools } from "@haft/git-tools"
import { projectTools } from "@haft/project-tools"

import { standardPlugins } from "../host/packages.ts"
import { pathsFrom } from "./paths-from.ts"

const schema = {
  type: "object",
  properties: { path: { type: "string", default: "." }, paths: {}, query: {}, cwd: {}, workdir: { default: null } }
}

it.each([
  [
    { path: "a.txt", query: "path" },
    { path: "sub/a.txt", query: "path", cwd: "sub", workdir: "sub" }
  ],
  [
    { path: "../a.txt", cwd: "." },
    { path: "a.txt", cwd: "sub", workdir: "sub" }
  ],
  [
    { path: "/etc/hosts", paths: ["b", "/c"] },
    { path: "/etc/hosts", paths: ["sub/b", "/c"], cwd: "sub", workdir: "sub" }
  ],
  [{}, { path: "sub", cwd: "sub", workdir: "sub" }]
])("reads the paths in %j relative to a directory", (args, expected) => {
  expect(pathsFrom("sub", args, schema)).toEqual(expected)
})

it.each([["a text"], [null], [["a.txt"]]])("leaves %j alone", (args) => {
  expect(pathsFrom("sub", args, schema)).toBe(args)
})

it("knows the parameter of every tool that its description calls a file or a directory", async () => {
  const plugins = [...(await standardPlugins()), gitTools, projectTools]
  const changed = new Set<string>()
  for (const { name, inputSchema } of plugins.flatMap(({ tools }) => tools)) {
    const properties = inputSchema["properties"] as Readonly<Record<string, { description?: string; type?: string }>>
    for (const [key, { description = "", type }] of Object.entries(properties)) {
      if (type !== "string" || !/^(a |the )?(file|director)|relative to the work/i.test(description)) continue
      if (/patch|diff/.test(key)) continue
      const seen = pathsFrom("sub", { [key]: "x" }, inputSchema) as Readonly<Record<string, unknown>>
      expect(`${name} ${key}=${String(seen[key])}`).toBe(`${name} ${key}=sub/x`)
      changed.add(key)
    }
  }
  expect([...changed].toSorted()).toEqual(["base_path", "cwd", "directory", "from", "path", "root"])
})
