import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync
} from "node:fs"
import { dirname, join } from "node:path"

import { Workspace } from "@haft/core"
import { nodeWorkspace } from "@haft/node"
import * as ManagedRuntime from "effect/ManagedRuntime"

import type { Group } from "../benchmark.ts"

const path = "one/two/three/four/five/file.txt"
const content = Buffer.alloc(4096, "x")

/** Reads and writes a small file, five directories down: the cost of containment and durability. */
export const benchmarks: Group = async function* (setting) {
  const root = join(setting.home, "workspace-files")
  const file = join(root, path)
  rmSync(root, { recursive: true, force: true })
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, content)
  const runtime = ManagedRuntime.make(nodeWorkspace({ root, state: `${root}-state` }))
  const workspace = await runtime.runPromise(Workspace.useSync((service) => service))
  const checkRead = (answer: unknown): void => {
    if (!content.equals(answer as Uint8Array)) throw new Error("other content")
  }
  yield {
    group: "workspace",
    name: "contained read of 4 KB, five directories down",
    floor: "readFileSync",
    ifMissed:
      "The directory is held from one read to the next and asked where it is now; the file is held before it is opened: five more system calls than a plain read.",
    contenders: [
      { name: "readFileSync", kind: "limit", run: () => readFileSync(file), check: checkRead },
      {
        name: "haft",
        kind: "haft",
        within: 50_000,
        run: () => runtime.runPromise(workspace.read(path)),
        check: checkRead
      }
    ]
  }

  let round = 0
  const next = (): Buffer => {
    content.writeUInt32LE(++round)
    return content
  }
  const checkWritten = (): void => checkRead(readFileSync(file))
  yield {
    group: "workspace",
    name: "durable replacement of 4 KB, five directories down",
    floor: "temporary file, fsync, rename, fsync",
    ifMissed:
      "More than half of it is spent waiting for the disk twice, for the file and for its name. The rest is a contained read, the entry in the history, and what is put down so that nothing stays behind after a crash.",
    contenders: [
      {
        name: "temporary file, fsync, rename, fsync",
        kind: "limit",
        run: () => replaceDurably(file, next()),
        check: checkWritten
      },
      {
        name: "haft, with the way back",
        kind: "haft",
        within: 1_000_000,
        run: () => runtime.runPromise(workspace.commit([{ kind: "write", path, content: next() }])),
        check: checkWritten
      }
    ],
    close: () => runtime.dispose()
  }
}

const replaceDurably = (file: string, bytes: Uint8Array): void => {
  const temporary = `${file}.tmp`
  const written = openSync(temporary, "w")
  writeSync(written, bytes)
  fsyncSync(written)
  closeSync(written)
  renameSync(temporary, file)
  const directory = openSync(dirname(file), "r")
  fsyncSync(directory)
  closeSync(directory)
}
