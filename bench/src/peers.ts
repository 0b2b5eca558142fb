import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"

export interface Peer {
  readonly package: string
  readonly version: string
  /** The path of the program in the package. */
  readonly bin: string
  /** Other versions of its dependencies, for those that not every registry has. */
  readonly overrides?: Readonly<Record<string, string>>
}

/** Installs a peer into its own directory, without install scripts, and returns its program. Throws if that fails. */
export const installPeer = (home: string, peer: Peer): string => {
  const directory = join(home, "peers", `${peer.package.replace("@", "").replace("/", "-")}-${peer.version}`)
  const program = join(directory, "node_modules", peer.package, peer.bin)
  if (existsSync(program)) return program
  const unfinished = `${directory}.unfinished`
  rmSync(unfinished, { recursive: true, force: true })
  mkdirSync(unfinished, { recursive: true })
  const { package: name, version, overrides = {} } = peer
  const manifest = { private: true, dependencies: { [name]: version }, overrides }
  writeFileSync(join(unfinished, "package.json"), JSON.stringify(manifest))
  const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
  try {
    execFileSync("npm", ["install", ...flags], { cwd: unfinished, stdio: "pipe", encoding: "utf8" })
  } catch (error) {
    const [, reason = "npm install failed"] = /npm error notarget (.*)/.exec((error as Error).message) ?? []
    throw new Error(`not installed: ${reason}`, { cause: error })
  }
  renameSync(unfinished, directory)
  return program
}
