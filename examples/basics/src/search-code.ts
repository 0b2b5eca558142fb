// Finds code by what it does, in the sources of this directory.
import { openHost } from "haft/promise"

await using host = await openHost({ root: import.meta.dirname, packages: ["search"] })

const found = await host.call("search_code", { query: "a contract of your own with tools", max_results: 3 })
if (!found.ok) throw new Error(found.error.message)
for (const { path, start_line, symbol = "", why } of found.output.results) {
  console.log(`${path}:${start_line} ${symbol} (${why})`)
}
if (!found.output.results.some(({ path }) => path === "own-dialect.ts")) throw new Error("own-dialect.ts is not found")

const outline = await host.call("outline", { path: "own-dialect.ts" })
if (!outline.ok || outline.output.total === 0) throw new Error("own-dialect.ts has no definitions")
