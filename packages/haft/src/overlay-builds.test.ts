import { execFileSync } from "node:child_process"
import { existsSync } from "node:fs"
import { join } from "node:path"

import { temporaryWorkspace } from "@haft/testing"
import { expect, it } from "vitest"

const isRoot = process.platform === "linux" && process.getuid?.() === 0
const hasNpm = existsSync("/usr/bin/npm")
const cli = join(import.meta.dirname, "../../../apps/cli/src/bin.ts")

const files = {
  "package.json": JSON.stringify({
    name: "app",
    version: "1.0.0",
    scripts: { build: "shout hello > dist/out.txt", prebuild: "mkdir -p dist" }
  }),
  ".gitignore": "node_modules\ndist\n",
  "dep/package.json": JSON.stringify({ name: "shout", version: "2.0.0", bin: "cli.js", main: "index.js" }),
  "dep/cli.js": '#!/usr/bin/env node\nconsole.log(require("./index.js")(process.argv[2]))\n',
  "dep/index.js": "module.exports = (text) => text.toUpperCase()\n",
  "dep/lib/deep/er/data.json": "{}\n"
}

const users = [
  ["root", 0],
  ["an ordinary user", 65_534]
] as const

it.runIf(isRoot && hasNpm).each(users)(
  "npm install, a build and a commit of %s run on an overlay, and are undone (not on this platform)",
  (_, user) => {
    using workspace = temporaryWorkspace(files)
    const { root, state } = workspace
    execFileSync("git", ["init", "--quiet", root])
    execFileSync("chown", ["-R", `${user}:${user}`, join(root, "..")])
    const haft = (...args: ReadonlyArray<string>): string => {
      const host = [process.execPath, "--conditions=@haft/source", cli, ...args, "--workspace", root, "--state", state]
      return execFileSync("setpriv", [`--reuid=${user}`, `--regid=${user}`, "--clear-groups", ...host], {
        encoding: "utf8",
        env: { PATH: process.env["PATH"], HOME: state }
      })
    }
    const run = (command: string): unknown =>
      JSON.parse(
        haft("call", "run_command", `command=${command}`, "--json", "--approve", "all", "--sandbox", "unshare")
      )
    const identity = "-c user.name=t -c user.email=t@example.com"
    const command = [
      "npm install --offline --no-audit --no-fund --install-links ./dep",
      "npm run build",
      "git add -A",
      `git ${identity} commit -qm built`
    ]
    expect(run(command.join(" && "))).toMatchObject({
      ok: true,
      result: { exit_code: 0, changes: { outcome: "committed" } }
    })
    expect(workspace.read("dist/out.txt")).toBe("HELLO\n")
    expect(workspace.read("node_modules/shout/lib/deep/er/data.json")).toBe("{}\n")
    expect(existsSync(join(root, "node_modules/.bin/shout"))).toBe(true)
    expect(workspace.read("package.json")).toContain("file:dep")
    const committed = ["-c", "safe.directory=*", "-C", root, "ls-tree", "--name-only", "HEAD"]
    expect(execFileSync("git", committed, { encoding: "utf8" })).toBe(
      ".gitignore\ndep\npackage-lock.json\npackage.json\n"
    )
    haft("undo", "--approve", "all")
    expect(["node_modules", "dist", "package-lock.json"].map((path) => workspace.exists(path))).toEqual([
      false,
      false,
      false
    ])
    expect(workspace.read("package.json")).toBe(files["package.json"])
  },
  120_000
)
