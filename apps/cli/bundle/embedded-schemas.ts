import { execFileSync } from "node:child_process"
import { globSync } from "node:fs"
import { basename, resolve } from "node:path"

import type { Plugin } from "rolldown"

const packages = resolve(import.meta.dirname, "../../../packages")

/**
 * Writes the JSON Schemas of the tools into the bundle, as text that is parsed on first use. Without it, listing the
 * tools would make all their zod schemas and convert them; with it, only the schemas of the tool that is called are
 * made.
 */
export const embeddedSchemas = (): Plugin => {
  let schemas: Readonly<Record<string, string>> = {}
  return {
    name: "embedded-schemas",
    buildStart: () => {
      schemas = schemasOfTools()
    },
    transform: {
      filter: { id: /packages\/(core\/src\/tool|[\w-]+-tools\/src\/.*\/\w+\.\w+(\.\w+)?)\.ts$/ },
      handler: (code, id) => {
        if (id.endsWith("core/src/tool.ts")) return { code: askingFirst(code), map: null }
        const made = schemas[id]
        if (made === undefined) return null
        return {
          code: edit(code, /\.tool\(\{/, `.tool({ schemas: () => JSON.parse(${JSON.stringify(made)}),`),
          map: null
        }
      }
    }
  }
}

// In another process, because Node resolves imports to the sources only when it is started with this condition.
const schemasOfTools = (): Readonly<Record<string, string>> => {
  const files = globSync("*-tools/src/*/*.*.ts", { cwd: packages })
    .filter((file) => /^\w+\.[\w.]+\.ts$/.test(basename(file)) && !file.endsWith(".test.ts"))
    .map((file) => resolve(packages, file))
  const script = resolve(import.meta.dirname, "print-schemas.ts")
  const args = ["--conditions=@haft/source", script, ...files]
  return JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8", maxBuffer: 64 * 1024 * 1024 }))
}

const askingFirst = (code: string): string =>
  ["input", "output"].reduce(
    (edited, side) =>
      edit(edited, new RegExp(`(?=${side}JsonSchema\\(definition\\.)`), `definition.schemas?.().${side} ?? `),
    code
  )

const edit = (code: string, place: RegExp, text: string): string => {
  if (code.split(place).length !== 2) throw new Error(`the bundle looks for one place like ${place}`)
  return code.replace(place, () => text)
}
