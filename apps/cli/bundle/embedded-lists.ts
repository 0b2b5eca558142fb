import { execFileSync } from "node:child_process"
import { resolve } from "node:path"

import type { Plugin } from "rolldown"

const prefix = "tools-of-"

/**
 * Writes the lists of haft's own tools into the bundle, a file for each dialect, so that `haft mcp` can answer
 * `tools/list` before it has loaded any tool package. Takes the place of `src/listed-tools.ts`.
 */
export const embeddedLists = (): Plugin => {
  let lists: Readonly<Record<string, string>> = {}
  return {
    name: "embedded-lists",
    buildStart: () => {
      lists = listsByDialect()
    },
    resolveId: { filter: { id: /^tools-of-/ }, handler: (id) => `\0${id}` },
    load: {
      filter: { id: /^\0tools-of-/ },
      handler: (id) => `export const tools = JSON.parse(${JSON.stringify(lists[id.slice(1 + prefix.length)])})`
    },
    transform: {
      filter: { id: /apps\/cli\/src\/listed-tools\.ts$/ },
      handler: () => ({ code: loading(Object.keys(lists)), map: null })
    }
  }
}

// In another process, because Node resolves imports to the sources only when it is started with this condition.
const listsByDialect = (): Readonly<Record<string, string>> => {
  const args = ["--conditions=@haft/source", resolve(import.meta.dirname, "print-tools.ts")]
  return JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8", maxBuffer: 64 * 1024 * 1024 }))
}

const loading = (dialects: ReadonlyArray<string>): string => `
const lists = { ${dialects.map((name) => `${name}: () => import("${prefix}${name}")`).join(", ")} }
export const listedTools = async (dialect) => (await lists[dialect]()).tools`
