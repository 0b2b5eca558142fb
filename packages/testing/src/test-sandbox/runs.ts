import assert from "node:assert/strict"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"

import { Sandbox } from "@haft/core"
import * as Effect from "effect/Effect"

import { type Check, wrapAndRun } from "./inside.ts"

/** Tests that ordinary commands run as they would without a sandbox. */
export const testRuns = (check: Check): void => {
  check("runs a command in the workspace and reports how it ended", async ({ sh, workspace }) => {
    const ran = await sh("pwd; cat; echo trouble >&2; exit 3")
    assert.deepEqual([ran.exitCode, ran.stdout, ran.stderr], [3, `${workspace.root}\n`, "trouble\n"])
  })

  check("says what it enforces", async ({ run }) => {
    const described = await run(Sandbox.use((sandbox) => sandbox.describe))
    assert.equal(described.isolated, true)
    assert.ok(described.kind !== "" && described.enforced.length > 0)
  })

  check("says when there is no such program, and which", async ({ run, workspace }) => {
    const command = { program: "no-such-program", args: [], directory: workspace.root, env: {} }
    const unfound = { ...command, env: { PATH: "/no/such/directory" } }
    for (const missing of [command, unfound]) {
      const ended = JSON.stringify(await run(Effect.exit(wrapAndRun(missing))))
      assert.ok(ended.includes("command_not_found") && ended.includes(`'${missing.program}'`), ended)
    }
  })

  check("reports a signal", async ({ sh }) => {
    assert.equal((await sh("kill -9 $$")).signal, "SIGKILL")
  })

  check("hands over what a call gives, and nothing of the host's", async ({ probe }) => {
    process.env["HAFT_TEST_SECRET"] = "do-not-tell"
    const { variables, input, signals, descriptors } = await probe(
      {
        variables: "perl -e 'print qq($_=$ENV{$_}\\n) for keys %ENV'",
        input: "cat",
        signals: "grep SigIgn /proc/self/status",
        descriptors: "for path in /proc/self/fd/*; do case ${path##*/} in [0-3]) ;; *) readlink $path ;; esac; done"
      },
      { env: { GIVEN: "yes ünd 'no'", LINES: '"$(id)"\n`id`\\' }, stdin: "fed" }
    )
    delete process.env["HAFT_TEST_SECRET"]
    assert.ok(variables.includes("GIVEN=yes ünd 'no'\n") && variables.includes('LINES="$(id)"\n`id`\\\n'), variables)
    assert.ok(!variables.includes("do-not-tell"))
    assert.ok(variables.includes("PAGER=cat\n") && variables.includes("TERM=dumb\n"))
    assert.equal(input, "fed")
    assert.equal(Number.parseInt(signals.split("\t")[1] ?? "f", 16) & 0b10, 0, `SIGINT is ignored: ${signals}`)
    assert.deepEqual(
      descriptors.split("\n").filter((target) => target !== "" && target !== "/dev/null"),
      []
    )
  })

  check("shows nobody who looks at the machine's processes what variables hold", async ({ sh, workspace }) => {
    const secret = `do-not-tell-${Date.now()}`
    const running = sh("touch started; until [ -e seen ]; do sleep 0.02; done; echo $GIVEN", { env: { GIVEN: secret } })
    while (!workspace.exists("started")) await sleep(5)
    const shown = commandLines().filter((line) => line.includes(secret))
    workspace.put("seen", "")
    assert.deepEqual([shown, (await running).stdout], [[], `${secret}\n`])
  })

  check("is not taken over by variables that change how programs load", async ({ sh, workspace }) => {
    workspace.put("evil.sh", "touch evil-ran")
    const env = {
      LD_PRELOAD: join(workspace.root, "evil.so"),
      PERL5OPT: "-Mevil",
      ENV: join(workspace.root, "evil.sh")
    }
    assert.equal((await sh("echo fine", { env })).exitCode, 0)
    assert.equal(workspace.exists("evil-ran"), false)
  })

  check("runs behind a terminal too", async ({ sh }) => {
    const ran = await sh("echo there; exit 4", { request: { terminal: true } })
    assert.deepEqual([ran.exitCode, ran.stdout], [4, "there\n"])
  })

  check("takes odd file names and arguments as they are", async ({ workspace, run }) => {
    const args = ["%s|", "a b", "it's", "$(id)", "line\nbreak", "日本"]
    const command = { program: "printf", args, directory: workspace.root, env: {} }
    const ran = await run(wrapAndRun(command))
    assert.equal(ran.stdout, "a b|it's|$(id)|line\nbreak|日本|")
  })

  check("lets a flood of output through without keeping it", async ({ sh }) => {
    const ran = await sh("head -c 50000000 /dev/zero")
    assert.equal(ran.bytes, 50_000_000)
  })
}

const commandLines = (): ReadonlyArray<string> =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return [readFileSync(`/proc/${pid}/cmdline`, "utf8")]
      } catch {
        return []
      }
    })
