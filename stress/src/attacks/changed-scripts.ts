import { rmSync } from "node:fs"
import { join } from "node:path"

import { temporaryWorkspace } from "@haft/testing"
import * as fc from "fast-check"
import { openWorkspace } from "haft/promise"

import { type Attack, forSeconds, none } from "../attack.ts"

/** Ways to run a script: by name, by a redirection, through a pipe, as a substitution, from within another script. */
const ways = (name: string): fc.Arbitrary<string> =>
  fc.constantFrom(
    `./${name}`,
    `sh ${name}`,
    `sh < ${name}`,
    `<${name} sh -s`,
    `cat ${name} | sh`,
    `cat < ${name} | tee copy | sh`,
    `. ./${name}`,
    `sh -c "$(cat ${name})"`,
    `eval "$(cat ${name})"`,
    `echo ${name} | xargs sh`,
    `env sh ${name}`,
    `{ sh; } < ${name}`,
    `sh -c 'sh ${name}'`,
    `X=${name}; sh "$X"`,
    `sh '${name.slice(0, 1)}'"${name.slice(1)}"`
  )

/** Surrounding script. */
const around = fc.constantFrom(
  (way: string) => way,
  (way: string) => `true && ${way}`,
  (way: string) => `(${way})`,
  (way: string) => `${way} > log 2>&1`,
  (way: string) => `if true; then ${way}; fi`,
  (way: string) => `${way} #${"x".repeat(9000)}`,
  (way: string) => `sh -c '${way.replaceAll("'", String.raw`'\''`)}'`
)

const lines = fc.tuple(fc.constantFrom("s.sh", "d/s.sh"), around).chain(([name, put]) =>
  fc
    .oneof(
      ways(name),
      ways("s.sh").map((way) => `cd d && ${way}`)
    )
    .map(put)
)

const script = (mark: string) => ({ text: `#!/bin/sh\necho x > ${mark}\n`, mode: 0o755 })

/** Changes scripts between the question and the answer: what was not shown must not run. */
export const attack: Attack = async function* ({ seconds, seed }) {
  const workspace = temporaryWorkspace({})
  const { root, state } = workspace
  const opened = await openWorkspace({ root, state, sandbox: "none" })
  const unseen: Array<string> = []
  let asked = 0
  opened.approvals.subscribe((change) => {
    if (change.type !== "opened") return
    asked += 1
    if (asked === 1) for (const path of ["s.sh", "d/s.sh"]) workspace.put(path, script(`${root}/unapproved`))
    opened.approvals.answer(change.request.id, { approved: asked === 1 })
  })
  const host = await opened.host()
  const calls = await forSeconds(seconds, async (round) => {
    const [command = "true"] = fc.sample(lines, { seed: seed + round, numRuns: 1 })
    for (const path of ["s.sh", "d/s.sh"]) workspace.put(path, script(`${root}/approved`))
    asked = 0
    await host.call("run_command", { command })
    if (workspace.exists("unapproved")) unseen.push(command.slice(0, 100))
    rmSync(join(root, "unapproved"), { force: true })
  })
  await opened.dispose()
  workspace.remove()
  yield none("scripts that ran with content nobody was asked about", `${calls} commands`, unseen)
}
