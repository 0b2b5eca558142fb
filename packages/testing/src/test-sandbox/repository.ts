import assert from "node:assert/strict"
import { mkdirSync, readdirSync, readlinkSync, rmSync } from "node:fs"
import { join } from "node:path"

import type { Check } from "./inside.ts"

/** Tests that commands can't change files that other programs run or trust without asking, such as git's hooks. */
export const testRepository = (check: Check): void => {
  check("leaves git's hooks and configuration, and haft's, as they are", async ({ sh, workspace }) => {
    workspace.put(".git/config", "[core]\n")
    workspace.put(".git/HEAD", "ref: refs/heads/main\n")
    workspace.put(".git/hooks/pre-commit.sample", "sample")
    workspace.put("haft.config.json", "{}")
    workspace.put(".vscode/tasks.json", "{}")
    await sh(`
      echo evil > .git/hooks/pre-commit; echo evil >> .git/config; echo evil > haft.config.json; echo evil > .vscode/tasks.json
      mv .git elsewhere; mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit
      rm -rf .git/hooks; mv .git/hooks .git/old; ln -s /tmp .git/hooks; mv haft.config.json x; rm -rf .vscode; mv .vscode y
      mv .git/config .git/c; rm -f .git/config; echo '[core] hooksPath = /tmp' > .git/config`)
    assert.deepEqual(readdirSync(join(workspace.root, ".git/hooks")), ["pre-commit.sample"])
    assert.equal(workspace.read(".git/config"), "[core]\n")
    assert.equal(workspace.read("haft.config.json"), "{}")
    assert.equal(workspace.read(".vscode/tasks.json"), "{}")
  })

  check("keeps hooks out of a repository that has none yet", async ({ sh, workspace }) => {
    workspace.put(".git/config", "[core]\n")
    await sh("mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit")
    assert.equal(workspace.exists(".git/hooks/pre-commit"), false)
  })

  check("lets git do its work all the same", async ({ sh, workspace }) => {
    workspace.put(".git/config", "[core]\n")
    mkdirSync(join(workspace.root, ".git/objects"))
    await sh("echo object > .git/objects/aa; echo ref > .git/HEAD")
    assert.equal(workspace.read(".git/objects/aa"), "object\n")
  })

  check("makes nothing outside, and goes on, where a part of the repository is a link", async ({ sh, workspace }) => {
    const place = join(workspace.outside, "made")
    for (const name of ["config", "hooks", "commondir"]) {
      // The places where one sandbox or another has the host's files while it is made.
      for (const target of [place, `/oldroot${place}`, `/old${place}`]) {
        rmSync(join(workspace.root, ".git"), { recursive: true, force: true })
        workspace.put(".git/HEAD", "ref: refs/heads/main\n")
        workspace.put(`.git/${name}`, { symlink: target })
        assert.equal((await sh(`rm -f .git/${name}; echo evil > .git/${name}; echo went on`)).stdout, "went on\n")
        assert.equal(readlinkSync(join(workspace.root, ".git", name)), target)
        assert.deepEqual(readdirSync(workspace.outside), [])
      }
    }
  })
}
