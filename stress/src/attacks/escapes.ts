import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { openHost, type OpenHost } from "@haft/core/promise"
import { temporaryWorkspace, type TemporaryWorkspace } from "@haft/testing"
import { standardHost } from "haft/internal"

import { type Attack, forSeconds, none } from "../attack.ts"

/** Commands that try to have something run outside their sandbox. In the workspace, `./evil` leaves a file outside. */
const plants: ReadonlyArray<string> = [
  "git init -q . && printf '[core]\\n\\tfsmonitor = ./evil\\n' >> .git/config",
  "git init -q . && cp evil .git/hooks/post-index-change && cp evil .git/hooks/reference-transaction",
  "git init -q . && git init -q other && printf '[core]\\n\\tfsmonitor = ./evil\\n' >> other/.git/config && echo ../other/.git > .git/commondir",
  "git init -q . && git config extensions.worktreeConfig true; printf '[core]\\n\\tfsmonitor = ./evil\\n' > .git/config.worktree",
  "git init -q . && printf '[include]\\n\\tpath = ../settings\\n' >> .git/config; printf '[core]\\n\\tfsmonitor = ./evil\\n' > settings",
  "git init -q real && printf '[core]\\n\\tfsmonitor = ./evil\\n' >> real/.git/config && mv real/.git store && echo 'gitdir: store' > .git",
  "git init -q real && printf '[core]\\n\\tfsmonitor = ./evil\\n' >> real/.git/config && mv real/.git store && ln -s store .git",
  "git init -q --bare . && printf '[core]\\n\\tfsmonitor = ./evil\\n\\tbare = false\\n\\tworktree = .\\n' >> config",
  "mkdir -p a/b && cp evil a/b && cd a/b && git init -q . && printf '[core]\\n\\tfsmonitor = ./evil\\n' >> .git/config",
  "mkdir -p node_modules/p && cp evil node_modules/p && cd node_modules/p && git init -q . && printf '[core] fsmonitor=./evil\\n' >> .git/config",
  "mkdir -p .git/modules && git init -q s && printf '[core]\\n\\tfsmonitor = ./evil\\n' >> s/.git/config && mv s/.git .git/modules/s && echo 'gitdir: ../.git/modules/s' > s/.git && cp evil s"
]

const helpers =
  "bash bwrap cat chown env git grep mkfifo perl rm rmdir setpriv setsid sh sleep stat stty tr true unshare"

/** Commands and terminals that plant what the host's own programs would run, and a root that is exchanged for another. */
export const attack: Attack = async function* ({ seconds }) {
  const open = ({ root, state }: TemporaryWorkspace): Promise<OpenHost> =>
    openHost(standardHost({ root, state, packages: ["exec", "pty", "search"] }))

  {
    using workspace = temporaryWorkspace()
    const proof = join(workspace.outside, "ran")
    const host = await open(workspace)
    const cases: Array<string> = []
    const tried = await forSeconds(seconds / 2, async (count) => {
      for (const name of readdirSync(workspace.root))
        rmSync(join(workspace.root, name), { recursive: true, force: true })
      workspace.put("evil", { text: `#!/bin/sh\necho > '${proof}'\n`, mode: 0o755 })
      const command = plants[count % plants.length] ?? ""
      if (count % 3 === 2) await inTerminal(host, command)
      else await host.call("run_command", { command }, { ask })
      for (const directory of ["", "a/b", "node_modules/p", "s", "other"]) {
        const cwd = join(workspace.root, directory)
        if (!existsSync(cwd)) continue
        for (const words of [["status"], ["branch", "x"], ["add", "."]]) spawnSync("git", words, { cwd })
      }
      if (existsSync(proof)) cases.push(command)
      rmSync(proof, { force: true })
    })
    await host.dispose()
    yield none("the host's git runs what a command planted", `${tried} commands and terminals`, cases)
  }

  {
    using workspace = temporaryWorkspace()
    const proof = join(workspace.outside, "ran")
    const path = process.env["PATH"]
    const bin = join(workspace.root, "node_modules/.bin")
    mkdirSync(bin, { recursive: true })
    process.env["PATH"] = `${bin}:.::${path ?? ""}`
    const host = await open(workspace)
    const plant = `cd node_modules/.bin; for n in ${helpers}; do printf '#!/bin/sh\\necho $0 >> ${proof}\\nexit 1\\n' > $n; chmod 755 $n; done`
    await host.call("run_command", { command: plant, env: { PATH: "/usr/bin:/bin" } }, { ask })
    const cases: Array<string> = []
    const tried = await forSeconds(seconds / 4, async (count) => {
      if (count % 2 === 1) await inTerminal(host, "true")
      else await host.call("run_command", { command: "true" }, { ask })
      await host.call("search_text", { query: "evil" }, { ask })
      if (existsSync(proof)) cases.push(`call ${count}`)
    })
    await host.dispose()
    process.env["PATH"] = path
    yield none("the host runs a helper from PATH that a command planted", `${tried} calls`, cases)
  }

  {
    using workspace = temporaryWorkspace({ "mine.txt": "mine" })
    const { root, outside } = workspace
    writeFileSync(join(outside, "secret.txt"), "do-not-tell")
    const host = await open(workspace)
    await host.call("run_command", { command: "true" }, { ask })
    const cases: Array<string> = []
    const tried = await forSeconds(seconds / 4, async (count) => {
      const swapped = host.call("run_command", { command: "cat *.txt; echo x > made" }, { ask })
      await new Promise((resolve) => setTimeout(resolve, count % 12))
      renameSync(root, `${root}-was`)
      renameSync(outside, root)
      const { text } = await swapped
      const searched = await host.call("search_text", { query: "do-not-tell" }, { ask })
      if (text.includes("do-not-tell") || searched.text.includes("secret.txt")) cases.push(`read in round ${count}`)
      if (existsSync(join(root, "made"))) cases.push(`written in round ${count}`)
      renameSync(root, outside)
      renameSync(`${root}-was`, root)
      rmSync(join(outside, "made"), { force: true })
    })
    await host.dispose()
    yield none("commands and searches follow a root that was exchanged", `${tried} exchanges`, cases)
  }
}

/** Yes to every command, and no to what a command has changed: on an overlay that is a question of its own. */
const ask = async ({ isEffects }: { readonly isEffects?: boolean }) => ({ approved: isEffects !== true })

const inTerminal = async (host: OpenHost, command: string): Promise<void> => {
  const { wire } = await host.call("open_terminal", { command, yield_time_ms: 5000 }, { ask })
  const { terminal_id } = (wire as { readonly result?: { readonly terminal_id: string } }).result ?? {}
  await host.call("close_terminal", { terminal_id }, { ask })
}
