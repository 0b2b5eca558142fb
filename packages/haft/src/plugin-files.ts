/** The files of a plugin that does one small thing, by path: a start that runs and passes its own test. */
export const pluginFiles = (name: string): Readonly<Record<string, string>> => ({
  "package.json": `${JSON.stringify(
    {
      name,
      version: "0.1.0",
      type: "module",
      exports: "./src/index.js",
      keywords: ["haft-plugin"],
      scripts: { test: "node --test" },
      peerDependencies: { haft: "*", zod: "^4.0.0" }
    },
    null,
    2
  )}\n`,
  "src/index.js": `import { definePlugin, defineTool } from "haft/promise"
import * as z from "zod"

export const greet = defineTool({
  name: "greet",
  description: "Greet somebody by name.",
  input: z.strictObject({ name: z.string().min(1).describe("Whom to greet") }),
  output: z.object({ greeting: z.string() }),
  risk: "read_only",
  execute: async ({ name }) => ({ greeting: \`Hello, \${name}!\` }),
  render: ({ greeting }) => greeting
})

export default definePlugin({ name: "${name}", version: "0.1.0", tools: [greet] })
`,
  "src/index.test.js": `import assert from "node:assert/strict"
import { test } from "node:test"

import { openHost } from "haft/promise"

import plugin from "./index.js"

test("greets by name", async () => {
  const host = await openHost({ packages: [], plugins: [plugin] })
  const reply = await host.call("greet", { name: "Ada" })
  assert.equal(reply.text, "Hello, Ada!")
  await host.dispose()
})
`,
  "README.md": `# ${name}

A plugin for haft: \`greet\` greets somebody by name.

\`\`\`sh
npm test
haft plugin check .
haft call greet name=Ada --config haft.config.json
\`\`\`
`,
  "haft.config.json": `${JSON.stringify({ plugins: ["./src/index.js"] }, null, 2)}\n`
})
