import assert from "node:assert/strict"
import { chmodSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"

import { type Check, wrapAndRun } from "./inside.ts"

/** Programs that sandboxes, launchers and tools start outside a sandbox. */
const helpers = [
  ..."bash bwrap cat chown docker env git grep mkfifo mktemp mount perl podman ps rg rm rmdir runc".split(" "),
  ..."sandbox-exec setpriv setsid sh sleep stat stty taskkill timeout tr true unshare".split(" ")
]

/** Tests that nothing a command can write ever runs on the host, and that no command reaches what the host trusts. */
export const testTrust = (check: Check): void => {
  check("keeps a command's variables from the programs that set the sandbox up", async ({ sh }) => {
    // The loader then lists the libraries of a program instead of running it; a shell without libraries runs all the
    // same. Either way it is the command's shell that does so, as one that it starts itself shows.
    const traced = await sh("echo ran", { env: { LD_TRACE_LOADED_OBJECTS: "1" } })
    const inside = await sh("LD_TRACE_LOADED_OBJECTS=1 sh -c 'echo ran'")
    const librariesIn = (output: string): string => output.replaceAll(/\(0x[0-9a-f]+\)/g, "")
    assert.equal(traced.exitCode, 0, traced.stderr)
    assert.equal(librariesIn(traced.stdout), librariesIn(inside.stdout))
    const env = {
      IFS: "0123456789",
      PS4: "$(exit 3)",
      ENV: "/nonexistent",
      LD_BIND_NOW: "1",
      GIVEN: "a  b'\"$c\n",
      E: ""
    }
    const given = await sh(`printf '%s|%s|%s|' "$GIVEN" "$LD_BIND_NOW" "\${E-unset}"; exit 7`, { env })
    assert.deepEqual([given.exitCode, given.stdout, given.stderr], [7, "a  b'\"$c\n|1||", ""])
  })

  check("runs no program from the workspace on the host, wherever PATH leads", async ({ workspace, probe, sh }) => {
    const planted = join(workspace.root, "node_modules/.bin")
    const proof = join(workspace.outside, "ran-on-host")
    for (const directory of [planted, workspace.root]) {
      mkdirSync(directory, { recursive: true })
      for (const name of helpers) {
        // In a sandbox nothing outside can be written, so a file there shows that it ran on the host.
        writeFileSync(join(directory, name), `#!/bin/sh\n/usr/bin/env touch '${proof}-${name}'\nexit 1\n`)
        chmodSync(join(directory, name), 0o755)
      }
    }
    const before = { path: process.env["PATH"], temporary: process.env["TMPDIR"], cwd: process.cwd() }
    process.env["PATH"] = `${planted}:.::node_modules/.bin:${before.path ?? ""}`
    process.env["TMPDIR"] = planted
    process.chdir(workspace.root)
    try {
      const clean = { env: { PATH: "/usr/bin:/bin" } }
      assert.equal((await sh("echo well", clean)).stdout, "well\n")
      assert.equal((await sh("echo well", { ...clean, request: { terminal: true } })).stdout, "well\n")
      assert.equal((await sh("sleep 60", { ...clean, timeoutMs: 300 })).timedOut, true)
      await probe({ nothing: "true" }, clean)
    } finally {
      process.chdir(before.cwd)
      process.env["PATH"] = before.path
      if (before.temporary === undefined) delete process.env["TMPDIR"]
      else process.env["TMPDIR"] = before.temporary
    }
    assert.deepEqual(
      helpers.filter((name) => workspace.exists(`../outside/ran-on-host-${name}`)),
      []
    )
  })

  check("shows a command no pipe, socket or script of the host", async ({ probe }) => {
    const { found } = await probe({
      found:
        "find / \\( -path /proc -o -path /sys -o -path /usr \\) -prune -o \\( -type p -o -type s -o -name 'haft-*-*-*' \\) -print 2>/dev/null"
    })
    assert.equal(found.trim(), "")
  })

  check("starts nothing for a call that is cancelled before its sandbox is made", async ({ run, workspace }) => {
    const command = { program: "sh", args: ["-c", "touch started"], directory: workspace.root, env: {} }
    await run(
      Effect.forEach(
        Array.from({ length: 40 }),
        Effect.fnUntraced(function* () {
          const fiber = yield* Effect.forkChild(wrapAndRun(command), { startImmediately: true })
          yield* Fiber.interrupt(fiber)
        }),
        { concurrency: "unbounded" }
      )
    )
    assert.equal(workspace.exists("started"), false)
  })

  check("leaves no setuid or setgid program behind", async ({ sh, workspace }) => {
    await sh("cp /bin/sh shell; chmod 6755 shell; mkdir d; chmod 2777 d; cp /bin/sh d/shell; chmod 4755 d/shell")
    for (const path of ["shell", "d/shell"]) assert.equal(workspace.mode(path) & 0o6000, 0, path)
  })
}
