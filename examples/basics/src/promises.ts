import { mkdtemp, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { openHost } from "haft/promise"

const root = await mkdtemp(join(tmpdir(), "haft-example-"))
await writeFile(join(root, "hello.txt"), "Hello, haft!\n")

await using host = await openHost({ root, packages: ["fs", "search"] })
const read = await host.call("read_file", { path: "hello.txt" })
const found = await host.call("search_text", { query: "haft" })
console.log(read.text, found.text)

if (!read.ok || !found.ok) process.exitCode = 1
