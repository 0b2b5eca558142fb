import { execFileSync } from "node:child_process"
import { symlinkSync, unlinkSync } from "node:fs"
import { resolve } from "node:path"

import { afterEach, beforeEach, describe, expect, it } from "@effect/vitest"
import { temporaryWorkspace, type TemporaryWorkspace } from "@haft/testing"

import { trustConfig } from "../internal.ts"
import { findConfig } from "../promise.ts"

let workspace: TemporaryWorkspace
const { XDG_CONFIG_HOME: configHome } = process.env
beforeEach(() => {
  workspace = temporaryWorkspace()
  process.env["XDG_CONFIG_HOME"] = workspace.outside
})
afterEach(() => {
  if (configHome === undefined) delete process.env["XDG_CONFIG_HOME"]
  else process.env["XDG_CONFIG_HOME"] = configHome
  workspace.remove()
})

const here = () => ({ root: workspace.root, state: workspace.state })
const find = () => findConfig({ overrides: here() })

describe("the workspace's own configuration", () => {
  it("is passed over, and named, until its content is trusted", async () => {
    workspace.put("haft.config.json", '{"dialect":"agentbench"}')
    expect(await find()).toEqual({ config: here(), untrusted: `${workspace.root}/haft.config.json` })
    expect(await trustConfig(here())).toBe(`${workspace.root}/haft.config.json`)
    expect(await find()).toEqual({
      config: { ...here(), dialect: "agentbench" },
      file: `${workspace.root}/haft.config.json`
    })
    workspace.put("haft.config.json", '{"dialect":"agentbench","approval":"all"}')
    expect((await find()).config).toEqual(here())
  })

  it("can be TypeScript that imports haft, and is used when it is named", async () => {
    const source = `import { defineConfig } from "haft"
      const approval: string = "all"
      export default defineConfig({ approval: approval as "all", root: "below" })`
    workspace.put("haft.config.ts", source)
    await trustConfig(here())
    const program = resolve(import.meta.dirname, "../../test/print-config.ts")
    const args = ["--conditions=@haft/source", program, workspace.root, workspace.state]
    expect(JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" }))).toEqual({
      ...here(),
      approval: "all"
    })
    workspace.put("named.config.ts", `export default { root: "below", plugins: ["./p.ts", "haft-plugin-x"] }`)
    const { config } = await findConfig({ file: `${workspace.root}/named.config.ts` })
    expect(config).toEqual({
      root: `${workspace.root}/below`,
      plugins: [`${workspace.root}/p.ts`, "haft-plugin-x"]
    })
  })

  it.each(["./plugin.mjs", "a-package"])(
    "may not bring in the plugin %s, which an agent could change",
    async (name) => {
      workspace.put("plugin.mjs", "export default 1")
      workspace.put("node_modules/a-package/index.js", "export default 1")
      workspace.put("haft.config.json", JSON.stringify({ plugins: [name] }))
      await trustConfig(here())
      await expect(find()).rejects.toThrow(/which the agent could change/)
    }
  )

  it("is recognized behind links, and one of the user's that lies in the workspace can be trusted too", async () => {
    workspace.put("below/haft/haft.config.json", '{"approval":"all"}')
    symlinkSync(workspace.root, `${workspace.outside}/link`)
    process.env["XDG_CONFIG_HOME"] = `${workspace.outside}/link/below`
    const file = `${workspace.outside}/link/below/haft/haft.config.json`
    expect(await find()).toEqual({ config: here(), untrusted: file })
    expect(await trustConfig(here())).toBe(file)
    expect((await find()).config).toEqual({ ...here(), approval: "all" })
  })

  it("counts as the workspace's when it, or a directory on its path, is a symbolic link", async () => {
    workspace.put("../outside/haft.config.json", '{"approval":"all"}')
    symlinkSync("../outside/haft.config.json", `${workspace.root}/haft.config.json`)
    expect(await find()).toEqual({ config: here(), untrusted: `${workspace.root}/haft.config.json` })
    unlinkSync(`${workspace.root}/haft.config.json`)
    workspace.put("../outside/haft/haft.config.json", '{"approval":"all"}')
    symlinkSync(workspace.outside, `${workspace.root}/home`)
    process.env["XDG_CONFIG_HOME"] = `${workspace.root}/home`
    expect(await find()).toEqual({ config: here(), untrusted: `${workspace.root}/home/haft/haft.config.json` })
  })

  it("may not bring in a plugin by a link that an agent could change", async () => {
    workspace.put("../outside/a-package/index.js", "module.exports = {}")
    workspace.put("node_modules/another/index.js", "")
    symlinkSync(`${workspace.outside}/a-package`, `${workspace.root}/node_modules/a-package`)
    workspace.put("haft.config.json", '{"plugins":["a-package"]}')
    await trustConfig(here())
    await expect(find()).rejects.toThrow(/which the agent could change/)
  })

  it("is loaded with the content that was trusted, also after another has been", async () => {
    for (const approval of ["all", "none", "all"] as const) {
      workspace.put("haft.config.json", JSON.stringify({ approval }))
      await trustConfig(here())
      expect((await find()).config).toEqual({ ...here(), approval })
    }
  })

  it("is passed over where the note of what is trusted can't be read", async () => {
    workspace.put("haft.config.json", '{"approval":"all"}')
    await trustConfig(here())
    workspace.put("../state/trusted-config.json", "null")
    expect((await find()).config).toEqual(here())
  })

  it("is an error, not a crash, where it is a directory", async () => {
    workspace.put("haft.config.ts/index.ts", "")
    await expect(find()).rejects.toThrow(/haft\.config\.ts can't be used: it is not a file/)
  })

  it("can't be trusted when there is none", async () => {
    await expect(trustConfig(here())).rejects.toThrow(/there is no haft\.config/)
  })
})

it("takes the user's configuration when the workspace has none, and the command line over both", async () => {
  workspace.put("../outside/haft/haft.config.json", '{"dialect":"agentbench","approval":"none"}')
  const { config, file } = await findConfig({ overrides: { ...here(), approval: "all" } })
  expect(file).toBe(`${workspace.outside}/haft/haft.config.json`)
  expect(config).toEqual({ ...here(), dialect: "agentbench", approval: "all" })
})

it.each([
  ['{"dialekt":"haft"}', /dialekt/],
  ['{"dialect":"klingon"}', /dialect/],
  ['{"approval":"maybe"}', /approval/],
  ["{", /can't be loaded/]
])("refuses the configuration %s and says what is wrong with it", async (content, problem) => {
  workspace.put("bad.json", content)
  await expect(findConfig({ file: `${workspace.root}/bad.json` })).rejects.toThrow(problem)
})

describe("more workspaces", () => {
  it("are read with paths seen from the file, each for itself", async () => {
    workspace.put(
      "../outside/team.json",
      '{"dialect":"agentbench","workspaces":{"docs":{"root":"./docs","state":"../state-of-docs","plugins":["./p.mjs"]}}}'
    )
    const { config } = await findConfig({ file: `${workspace.outside}/team.json`, overrides: here() })
    expect(config).toEqual({
      ...here(),
      dialect: "agentbench",
      workspaces: {
        docs: {
          root: `${workspace.outside}/docs`,
          state: resolve(workspace.outside, "../state-of-docs"),
          plugins: [`${workspace.outside}/p.mjs`]
        }
      }
    })
  })

  it.each([
    ['{"default":{}}', "default is what the other settings describe"],
    ['{"a/b":{}}', "a name is made of letters"],
    ['{"a":{"workspaces":{}}}', "workspaces"],
    ['{"a":{"rot":"x"}}', "rot"]
  ])("refuses %s", async (workspaces, problem) => {
    workspace.put("../outside/team.json", `{"workspaces":${workspaces}}`)
    await expect(findConfig({ file: `${workspace.outside}/team.json` })).rejects.toThrow(problem)
  })
})
