import { hash } from "node:crypto"
import { closeSync, constants, fstatSync, mkdirSync, openSync, readFileSync, writeSync } from "node:fs"
import { join, relative } from "node:path"

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants
const isLinux = process.platform === "linux"
// Linux has this flag, but Node has no constant for it.
const O_PATH = isLinux ? 0o10000000 : 0

/**
 * A read with only what haft's promises need: a line on record before and one after it, each sealed with the hash of
 * the one before; and on Linux the file is opened directory by directory. No decoding, no approval, no redaction, no
 * dialect.
 */
export const leastGuardedRead = (root: string, directory: string): ((path: string) => string) => {
  mkdirSync(directory, { recursive: true })
  const record = openSync(join(directory, `least-${process.pid}.jsonl`), "ax")
  const held = isLinux ? `/proc/self/fd/${openSync(root, O_PATH | O_DIRECTORY)}` : root
  let prev = "0".repeat(64)
  let seq = 0
  const append = (event: object): void => {
    const sealed = JSON.stringify({ ...event, seq: ++seq, at: new Date().toISOString(), prev }).slice(0, -1)
    prev = hash("sha256", sealed, "hex")
    writeSync(record, `${sealed},"hash":"${prev}"}\n`)
  }
  return (path) => {
    const name = relative(root, path)
    append({ type: "tool_call_started", request_id: `least-${seq}`, tool: "read_file", params: { path: name } })
    const found = openSync(`${held}/${name}`, O_PATH | O_NOFOLLOW)
    if (!fstatSync(found).isFile()) throw new Error(`${name} is no file`)
    const descriptor = openSync(isLinux ? `/proc/self/fd/${found}` : path, O_RDONLY | O_NONBLOCK)
    const content = readFileSync(descriptor, "utf8")
    closeSync(descriptor)
    closeSync(found)
    append({
      type: "tool_call_finished",
      request_id: `least-${seq}`,
      tool: "read_file",
      reply: { path: name, content }
    })
    return content
  }
}
