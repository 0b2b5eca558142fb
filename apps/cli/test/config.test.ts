import { symlinkSync } from "node:fs"

import { temporaryWorkspace, type TemporaryWorkspace } from "@haft/testing"
import { afterEach, beforeEach, describe, expect, it } from "vitest"

import { haft, placeOf } from "./haft.ts"

let workspace: TemporaryWorkspace
beforeEach(() => {
  workspace = temporaryWorkspace()
})
afterEach(() => workspace.remove())

const inWorkspace = (...args: ReadonlyArray<string>): ReadonlyArray<string> => [...args, ...placeOf(workspace)]

describe("a configuration", () => {
  it("is not taken from the workspace until its content is trusted, but is when named", async () => {
    workspace.put("haft.config.json", '{"dialect":"filetools"}')
    const tools = async (...more: Array<string>) => haft(inWorkspace("tools", ...more))
    const before = await tools()
    expect(before.stdout).toContain("read_file")
    expect(before.stderr).toContain("haft.config.json is not used")
    expect((await tools("--config", `${workspace.root}/haft.config.json`)).stdout).toContain("file.read")
    expect(await haft(inWorkspace("config", "trust"))).toMatchObject({ code: 0 })
    expect(await tools()).toMatchObject({ stderr: "", stdout: expect.stringContaining("file.read") })
    workspace.put("haft.config.json", '{"dialect":"filetools","approval":"all"}')
    expect((await tools()).stdout).not.toContain("file.read")
  })

  it("may not import what an agent could change when it is trusted by its content", async () => {
    workspace.put("other.mjs", "export const dialect = 'filetools'")
    workspace.put("haft.config.js", `import { dialect } from "./other.mjs"\nexport default { dialect }`)
    await haft(inWorkspace("config", "trust"))
    const { code, stderr } = await haft(inWorkspace("tools"))
    expect(code).toBe(2)
    expect(stderr).toContain("other.mjs, which the agent could change")
    const named = await haft(inWorkspace("tools", "--config", `${workspace.root}/haft.config.js`))
    expect(named.stdout).toContain("file.read")
  })

  it("may import haft where none is installed beside it", async () => {
    workspace.put(
      "../outside/mine.ts",
      `import { defineConfig } from "haft"\nexport default defineConfig({ approval: "none" })`
    )
    const { code, stdout, stderr } = await haft(inWorkspace("config", "--json", "-c", `${workspace.outside}/mine.ts`))
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    expect(JSON.parse(stdout)).toMatchObject({ config: { approval: "none" } })
    workspace.put(
      "haft.config.ts",
      `import { defineConfig } from "haft"\nexport default defineConfig({ approval: "all" })`
    )
    await haft(inWorkspace("config", "trust"))
    const trusted = await haft(inWorkspace("config", "--json"))
    expect(JSON.parse(trusted.stdout)).toMatchObject({ config: { approval: "all" } })
  })

  it("may not import anything by a link that an agent could change", async () => {
    workspace.put("../outside/value.mjs", 'export default "all"')
    workspace.put("../outside/a-package/package.json", '{"name":"a-package","exports":"./index.mjs"}')
    workspace.put("../outside/a-package/index.mjs", 'export default "all"')
    workspace.put("node_modules/another/index.js", "")
    symlinkSync(`${workspace.outside}/a-package`, `${workspace.root}/node_modules/a-package`)
    symlinkSync(`${workspace.outside}/value.mjs`, `${workspace.root}/linked.mjs`)
    for (const name of ["./linked.mjs", "a-package"]) {
      workspace.put("haft.config.js", `import approval from "${name}"\nexport default { approval }`)
      await haft(inWorkspace("config", "trust"))
      const { code, stderr } = await haft(inWorkspace("config"))
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("which the agent could change") })
    }
  })

  it("keeps to what was trusted where a link leads to it", async () => {
    workspace.put("below/haft/value.mjs", 'export default "all"')
    symlinkSync(workspace.root, `${workspace.outside}/link`)
    const env = { XDG_CONFIG_HOME: `${workspace.outside}/link/below` }
    const trusted = async (content: string) => {
      workspace.put("below/haft/haft.config.js", content)
      await haft(inWorkspace("config", "trust"), { env })
      return haft(inWorkspace("config"), { env })
    }
    const itself = await trusted(
      'import { defineConfig } from "haft"\nexport default defineConfig({ approval: "none" })'
    )
    expect(itself).toMatchObject({ code: 0, stdout: expect.stringContaining('"approval": "none"') })
    const another = await trusted('import approval from "./value.mjs"\nexport default { approval }')
    expect(another).toMatchObject({ code: 2, stderr: expect.stringContaining("which the agent could change") })
  })

  it("is shown with the names of plugins and dialects that stand in it as values", async () => {
    workspace.put(
      "../outside/mine.ts",
      `import { definePlugin } from "haft/promise"
      const dialect = { name: "terse", errorNames: {} }
      export default { dialect, plugins: [definePlugin({ name: "words", version: "1.2.3", tools: [] })] }`
    )
    const { stdout } = await haft(inWorkspace("config", "--json", "-c", `${workspace.outside}/mine.ts`))
    expect(JSON.parse(stdout)).toMatchObject({
      config: { dialect: "terse", plugins: [{ name: "words", version: "1.2.3" }] }
    })
    expect(stdout).not.toContain("~haft/Plugin")
  })
})
