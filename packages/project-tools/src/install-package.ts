import { type AsyncWorkspace, defineTool, toolError } from "@haft/core/promise"
import * as z from "zod"

import { readText } from "./runners.ts"

export const installPackage = defineTool({
  name: "install_package",
  description:
    "Add a package to a JavaScript project with its own manager (npm or pnpm). Needs the network, so a person is " +
    "always asked. Install scripts do not run.",
  input: z.strictObject({
    name: z
      .string()
      .max(214)
      .regex(/^(@[a-z0-9][a-z0-9._-]*\/)?[a-z0-9][a-z0-9._-]*$/, "not the name of a package")
      .describe("The package, as in zod or @types/node"),
    version: z
      .string()
      .regex(/^[\^~]?[0-9A-Za-z][0-9A-Za-z.+-]*$/, "neither a version nor a tag")
      .optional()
      .describe("A version, a range or a tag; the newest when absent"),
    dev: z.boolean().default(false).describe("For development only")
  }),
  output: z.object({ manager: z.string(), installed: z.string() }),
  risk: "dangerous",
  asks: true,
  openWorld: true,
  timeout: "5 minutes",
  touches: async (input, { workspace }) => {
    const words = wordsOf(await managerOf(workspace), input)
    return { writes: ["package.json"], runs: words.join(" "), fetches: `pkg:npm/${input.name}` }
  },
  execute: async (input, { run, workspace }) => {
    await workspace.info("package.json")
    const manager = await managerOf(workspace)
    const [program = "", ...args] = wordsOf(manager, input)
    const end = await run({ program, args, network: true, timeoutMs: 280_000 })
    if (end.exitCode !== 0) {
      const words = (end.stderr.text.trim() || end.stdout.text.trim()).slice(-2000)
      throw toolError("command_failed", `${manager} could not install ${input.name}: ${words}`)
    }
    const manifest = JSON.parse((await readText(workspace, "package.json")) ?? "{}") as Record<
      string,
      Record<string, string>
    >
    const range = manifest[input.dev ? "devDependencies" : "dependencies"]?.[input.name] ?? ""
    return { manager, installed: `${input.name}@${range}` }
  },
  render: ({ manager, installed }) => `${manager} installed ${installed}`
})

const managerOf = async (workspace: AsyncWorkspace): Promise<"npm" | "pnpm"> =>
  (await workspace.fingerprint("pnpm-lock.yaml")) === "absent" ? "npm" : "pnpm"

const wordsOf = (
  manager: "npm" | "pnpm",
  { name, version, dev }: { name: string; version?: string | undefined; dev: boolean }
): ReadonlyArray<string> => [
  manager,
  manager === "npm" ? "install" : "add",
  "--ignore-scripts",
  ...(dev ? ["--save-dev"] : []),
  version === undefined ? name : `${name}@${version}`
]
