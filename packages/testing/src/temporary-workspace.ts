import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"

/** One thing to put into a workspace: text, bytes, or something else, as an object that JSON can hold too. */
export type Fixture =
  | string
  | Uint8Array
  | { readonly text: string; readonly mode?: number }
  | { readonly base64: string }
  /** A text repeated, with `{n}` replaced by 1, 2, 3 and so on: for files of many lines. */
  | { readonly repeat: string; readonly times: number }
  | { readonly symlink: string }
  | { readonly directory: true }

/** A real directory for one test, with a state directory beside it. Both are removed afterwards. */
export interface TemporaryWorkspace {
  /** Absolute, with links resolved. */
  readonly root: string
  readonly state: string
  /** A directory beside the workspace, for tests that try to get out. */
  readonly outside: string
  readonly put: (path: string, fixture: Fixture) => void
  readonly read: (path: string) => string
  readonly bytes: (path: string) => Uint8Array
  readonly exists: (path: string) => boolean
  /** Permission bits. */
  readonly mode: (path: string) => number
  readonly remove: () => void
  readonly [Symbol.dispose]: () => void
}

export const temporaryWorkspace = (fixtures: Readonly<Record<string, Fixture>> = {}): TemporaryWorkspace => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "haft-")))
  const root = join(base, "workspace")
  for (const directory of ["workspace", "state", "outside"]) mkdirSync(join(base, directory))
  const put = (path: string, fixture: Fixture): void => putFixture(join(root, path), fixture)
  for (const [path, fixture] of Object.entries(fixtures)) put(path, fixture)
  const remove = (): void => rmSync(base, { recursive: true, force: true, maxRetries: 10 })
  return {
    root,
    state: join(base, "state"),
    outside: join(base, "outside"),
    put,
    read: (path) => readFileSync(join(root, path), "utf8"),
    bytes: (path) => readFileSync(join(root, path)),
    exists: (path) => existsSync(join(root, path)),
    mode: (path) => statSync(join(root, path)).mode & 0o7777,
    remove,
    [Symbol.dispose]: remove
  }
}

const putFixture = (path: string, fixture: Fixture): void => {
  mkdirSync(dirname(path), { recursive: true })
  if (typeof fixture === "string" || fixture instanceof Uint8Array) return writeFileSync(path, fixture)
  if ("symlink" in fixture) return symlinkSync(fixture.symlink, path)
  if ("base64" in fixture) return writeFileSync(path, Buffer.from(fixture.base64, "base64"))
  if ("repeat" in fixture) return putRepeated(path, fixture)
  if ("directory" in fixture) {
    mkdirSync(path, { recursive: true })
    return
  }
  writeFileSync(path, fixture.text)
  if (fixture.mode !== undefined) chmodSync(path, fixture.mode)
}

// Written in pieces, because a file may have a hundred megabytes, which should not be in memory at once.
const putRepeated = (path: string, { repeat, times }: { readonly repeat: string; readonly times: number }): void => {
  const most = 10_000
  writeFileSync(path, "")
  for (let before = 0; before < times; before += most) {
    const numbers = Array.from({ length: Math.min(most, times - before) }, (_, index) => before + index + 1)
    appendFileSync(path, numbers.map((number) => repeat.replaceAll("{n}", String(number))).join(""))
  }
}
