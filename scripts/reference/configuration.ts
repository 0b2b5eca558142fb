import * as z from "zod"

import { execConfig } from "../../packages/exec-tools/src/settings.ts"
import { fsConfig } from "../../packages/fs-tools/src/settings.ts"
import { configShape } from "../../packages/haft/src/config/config.ts"
import { terminalsConfig } from "../../packages/pty-tools/src/terminals/terminals.ts"
import { searchConfig } from "../../packages/search-tools/src/search-config.ts"
import { webConfig } from "../../packages/web-tools/src/web-config.ts"
import { markdownTable, typeOf } from "./table.ts"

/** The page with every setting of a configuration and of haft's own tool packages, from their schemas. */
export const configurationPage = (): string =>
  [
    "What `haft.config.ts`, `.js` or `.json` may say, and what `openHost` and `standardHost` take. Nothing has to be said;",
    "a key that is not listed is refused. A path in a file is relative to the file. How a file is found and trusted:",
    "[build a host](guides/build-a-host.md).\n",
    settingsOf(configShape()),
    ...Object.entries(packages).map(([name, shape]) => `\n## packages.${name}\n\n${settingsOf(shape)}`)
  ].join("\n")

const packages = { fs: fsConfig, search: searchConfig, exec: execConfig, pty: terminalsConfig, web: webConfig }

type Schema = Readonly<Record<string, unknown>>

const settingsOf = (shape: z.ZodType): string =>
  markdownTable(
    ["setting", "type", "default", "what"],
    rowsOf(z.toJSONSchema(shape, { io: "input", unrepresentable: "any" }))
  )

const rowsOf = (schema: Schema, prefix = ""): ReadonlyArray<ReadonlyArray<string>> =>
  Object.entries((schema["properties"] ?? {}) as Record<string, Schema>).flatMap(([key, setting]) => {
    const name = `${prefix}${key}`
    const value = "default" in setting ? `\`${JSON.stringify(setting["default"])}\`` : ""
    const row: ReadonlyArray<string> = [`\`${name}\``, typeOf(setting), value, (setting["description"] ?? "") as string]
    return [row].concat(rowsOf(setting, `${name}.`))
  })
