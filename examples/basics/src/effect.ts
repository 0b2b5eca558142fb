import { mkdtemp, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

import * as Effect from "effect/Effect"
import { Host, standardHost } from "haft"

const root = await mkdtemp(join(tmpdir(), "haft-example-"))
await writeFile(join(root, "hello.txt"), "Hello, haft!\n")

const program = Effect.gen(function* () {
  const host = yield* Host
  const read = yield* host.call("read_file", { path: "hello.txt" })
  const found = yield* host.call("search_text", { query: "haft" })
  console.log(read.text, found.text)
  return read.ok && found.ok
})

const isFine = await Effect.runPromise(program.pipe(Effect.provide(standardHost({ root, packages: ["fs", "search"] }))))
if (!isFine) process.exitCode = 1
