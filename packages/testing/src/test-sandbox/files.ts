import assert from "node:assert/strict"
import { chmodSync, existsSync, readdirSync, writeFileSync } from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"

import type { Check } from "./inside.ts"

/** Tests that commands see only the workspace and the system's programs. */
export const testFiles = (check: Check): void => {
  check(
    "sees nothing of the host's files but the system's programs, through links neither",
    async ({ probe, workspace }) => {
      const secret = join(workspace.outside, "secret")
      writeFileSync(secret, "do-not-tell")
      chmodSync(secret, 0o644)
      writeFileSync(join(workspace.state, "rules.json"), "[]")
      workspace.put("link", { symlink: secret })
      const { contents, names, home } = await probe({
        contents: `cat link '${secret}' /etc/shadow '${homedir()}'/.[a-z]* 2>/dev/null`,
        names: `ls -A '${workspace.outside}' '${workspace.state}' 2>&1`,
        home: `ls -A '${homedir()}' 2>/dev/null`
      })
      assert.ok(!contents.includes("do-not-tell") && !contents.includes("root:"))
      assert.ok(!names.includes("secret\n") && !names.includes("rules.json"))
      assert.deepEqual(
        readdirSync(homedir()).filter((name) => name.length > 3 && home.split("\n").includes(name)),
        []
      )
    }
  )

  check("changes the workspace and nothing else", async ({ sh, workspace }) => {
    const marker = `haft-test-${process.pid}`
    const places = [workspace.outside, workspace.state, homedir(), "/usr", "/etc", "/var", "/"]
    await sh(places.map((place) => `touch '${place}/${marker}'`).join("; ") + "; echo new > made.txt; mkdir -p a/b")
    assert.deepEqual(
      places.filter((place) => existsSync(join(place, marker))),
      []
    )
    assert.equal(workspace.read("made.txt"), "new\n")
  })

  check("can have the workspace read-only", async ({ sh, workspace }) => {
    workspace.put("here.txt", "here")
    const ran = await sh("cat here.txt; echo changed > here.txt; touch new.txt", { request: { writable: false } })
    assert.equal(ran.stdout, "here")
    assert.equal(workspace.read("here.txt"), "here")
    assert.equal(workspace.exists("new.txt"), false)
  })

  check("has a /tmp of its own, gone with the command", async ({ sh }) => {
    const name = `haft-test-${process.pid}-${Date.now()}`
    assert.equal((await sh(`echo x > /tmp/${name} && echo ok`)).stdout, "ok\n")
    assert.equal(existsSync(`/tmp/${name}`), false)
    assert.notEqual((await sh(`cat /tmp/${name}`)).exitCode, 0)
  })
}
