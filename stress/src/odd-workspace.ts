import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { join } from "node:path"

import { type Fixture, temporaryWorkspace, type TemporaryWorkspace } from "@haft/testing"

/** The content of a file outside the workspace, which must never be in a reply. */
export const secret = "canary-41b7-outside-the-workspace"

/** Paths for made-up calls: some exist, some don't, some lead out of the workspace. */
export const interestingPaths: ReadonlyArray<string> = [
  ".",
  "",
  "/",
  "a.txt",
  "sub/b.txt",
  "sub",
  "sub/deep/c.ts",
  "empty.txt",
  "binary.bin",
  "utf16.txt",
  "long-line.txt",
  "crlf.txt",
  "no-newline.txt",
  "pipe",
  "link-out",
  "link-dir/secret.txt",
  "link-loop",
  "link-in",
  "ünïcödé/日本.txt",
  "new/file.txt",
  "a.txt/b",
  "../outside/secret.txt",
  "sub/../../outside/secret.txt",
  "/etc/passwd",
  "/proc/self/environ",
  ".git/config",
  ".git/hooks/pre-commit",
  "haft.config.ts",
  "a\0b",
  "-rf",
  "--pre=sh",
  "*",
  "[",
  "{a,b",
  "**/*.txt",
  "CON",
  "x".repeat(300),
  `${"d/".repeat(200)}f`
]

const fixtures: Readonly<Record<string, Fixture>> = {
  "a.txt": "one\ntwo\nthree\n",
  "sub/b.txt": "two\n",
  "sub/deep/c.ts": "export const c = 1\n",
  "empty.txt": "",
  "binary.bin": { base64: Buffer.from([0, 1, 2, 255, 254, 0, 10, 0]).toString("base64") },
  "utf16.txt": { base64: Buffer.from("\uFEFFone\r\ntwo\r\n", "utf16le").toString("base64") },
  "long-line.txt": `${"x".repeat(200_000)}\nneedle\n`,
  "crlf.txt": "one\r\ntwo\r\n",
  "no-newline.txt": "last",
  "ünïcödé/日本.txt": "ähnlich\n",
  "link-out": { symlink: "../outside/secret.txt" },
  "link-dir": { symlink: "../outside" },
  "link-loop": { symlink: "link-loop" },
  "link-in": { symlink: "a.txt" },
  ".git/config": "[core]\n",
  "package.json": "{}"
}

/** A workspace full of traps, with a directory beside it that nobody may touch. */
export const oddWorkspace = (): TemporaryWorkspace => {
  const workspace = temporaryWorkspace()
  writeFileSync(join(workspace.outside, "secret.txt"), `${secret}\n`)
  mkdirSync(join(workspace.outside, "deep"))
  writeFileSync(join(workspace.outside, "deep/x.txt"), `${secret}\n`)
  refill(workspace)
  return workspace
}

/** Restores what calls have removed. */
export const refill = (workspace: TemporaryWorkspace): void => {
  const names = readdirSync(workspace.root)
  if (names.length > 200) for (const name of names) rmSync(join(workspace.root, name), { recursive: true, force: true })
  for (const [path, fixture] of Object.entries(fixtures)) {
    try {
      lstatSync(join(workspace.root, path))
    } catch {
      try {
        workspace.put(path, fixture)
      } catch {
        // A call has put a file where a directory was, so that is removed first.
        rmSync(join(workspace.root, path.split("/")[0] ?? ""), { recursive: true, force: true })
      }
    }
  }
  const pipe = join(workspace.root, "pipe")
  if (!existsSync(pipe)) execFileSync("mkfifo", [pipe])
}

/** A hash that changes whenever anything below a directory does. */
export const fingerprint = (directory: string): string => {
  const hash = createHash("sha256")
  const walk = (path: string): void => {
    const info = lstatSync(path)
    hash.update(`${path}\0${info.mode}\0`)
    if (info.isSymbolicLink()) hash.update(readlinkSync(path))
    else if (info.isDirectory()) for (const name of readdirSync(path).toSorted()) walk(join(path, name))
    else if (info.isFile()) hash.update(readFileSync(path))
  }
  walk(directory)
  return hash.digest("hex")
}
