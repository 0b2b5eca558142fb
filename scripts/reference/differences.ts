import { existsSync, readdirSync, readFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"

import { markdownTable } from "./table.ts"

/** Cases in which haft answers otherwise than the program whose dialect it speaks, with the reason, by dialect. */
export const differencesPage = (root: string): string => {
  const contracts = join(root, "contracts")
  const sections = readdirSync(contracts, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .toSorted()
    .flatMap((dialect) => {
      const rows = casesIn(join(contracts, dialect, "cases")).flatMap(({ tool, name, differs }) =>
        differs === undefined ? [] : [[`\`${tool}\``, name, inCell(differs.peer), inCell(differs.because)]]
      )
      return rows.length === 0
        ? []
        : [`## ${dialect}\n\n${markdownTable(["tool", "case", "the program itself", "why haft differs"], rows)}`]
    })
  return [
    "Each row is a contract case that says, under `differs`, how the program itself answers. All other cases recorded from",
    "that program are answered as it answers them.\n",
    sections.join("\n\n")
  ].join("\n")
}

const casesIn = (directory: string) => {
  const files = existsSync(directory) ? readdirSync(directory, { recursive: true, encoding: "utf8" }) : []
  return files
    .filter((file) => file.endsWith(".json"))
    .toSorted()
    .map((file) => {
      const { differs } = JSON.parse(readFileSync(join(directory, file), "utf8")) as {
        readonly differs?: { readonly peer: string; readonly because: string }
      }
      return { tool: dirname(file), name: basename(file, ".json").replaceAll("-", " "), differs }
    })
}

const inCell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("\n", " ")
