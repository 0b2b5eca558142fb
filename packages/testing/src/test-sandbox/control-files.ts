import assert from "node:assert/strict"
import { readdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { join } from "node:path"

import { controlFiles } from "@haft/core/internal"

import type { Check, Ran } from "./inside.ts"

/** Tests that no command leaves a file that other programs on the host run or trust, and that git goes on working. */
export const testControlFiles = (check: Check): void => {
  check("moves every kind of control file aside that a command makes, and says so", async ({ sh, workspace }) => {
    const paths = controlFiles
      .filter(({ path }) => path !== ".git")
      .flatMap(({ path }) => [path.replace("*", "json"), `deep/down/${path.replace("*", "ts")}`])
    const ran = await sh(paths.map((path) => `mkdir -p "$(dirname ${path})"; echo evil > ${path}`).join("\n"))
    assert.deepEqual(moved(ran), paths.toSorted())
    for (const { path, quarantine } of ran.controlFiles ?? []) {
      assert.equal(workspace.exists(path), false, path)
      assert.equal(readFileSync(quarantine ?? "", "utf8"), "evil\n")
    }
  })

  check(
    "moves aside what makes git run something, in a first repository and in nested ones",
    async ({ sh, workspace }) => {
      const ways: ReadonlyArray<readonly [code: string, path: string]> = [
        ["mkdir .git; printf '[core]\\n\\tfsmonitor = ./evil\\n' > .git/config", ".git/config"],
        ["mkdir .git; printf '[include]\\n\\tpath = ../evil\\n' > .git/config", ".git/config"],
        ["mkdir .git; printf '[core] sshCommand=./evil\\n' > .git/config.worktree", ".git/config.worktree"],
        ["mkdir .git; printf '[remote \"o\"]\\n\\turl = ext::./evil\\n' > .git/config", ".git/config"],
        ["mkdir -p .git/hooks; echo evil > .git/hooks/post-checkout", ".git/hooks/post-checkout"],
        ["mkdir .git evil; echo ../evil > .git/commondir", ".git/commondir"],
        ["mkdir -p a/b/.git/hooks; echo evil > a/b/.git/hooks/pre-commit", "a/b/.git/hooks/pre-commit"],
        ["mkdir evil; echo 'gitdir: evil' > .git", ".git"],
        ["mkdir -p sub .git/modules; echo 'gitdir: ../../outside/.git/modules/x' > sub/.git", "sub/.git"],
        ["mkdir evil; ln -s evil .git", ".git"],
        ["mkdir -p .git evil; ln -s ../evil .git/modules", ".git/modules"],
        [
          "mkdir -p .git/modules/x/y; touch .git/modules/x/y/HEAD; printf '[core]\\n\\tpager = ./evil\\n' > .git/modules/x/y/config",
          ".git/modules/x/y/config"
        ],
        ["mkdir -p .git/worktrees/w; echo ../../../evil > .git/worktrees/w/commondir", ".git/worktrees/w/commondir"],
        [
          "mkdir -p bare/objects bare/refs; echo x > bare/HEAD; printf '[core]\\n\\tfsmonitor = ./evil\\n' > bare/config",
          "bare/config"
        ]
      ]
      for (const [code, path] of ways) {
        for (const name of readdirSync(workspace.root)) rmSync(join(workspace.root, name), { recursive: true })
        const ran = await sh(code)
        assert.deepEqual(moved(ran), [path], code)
      }
    }
  )

  check("finds them below names that are not UTF-8", async ({ sh }) => {
    const ran = await sh(`d=$(printf 'd\\377'); mkdir "$d"; echo evil > "$d/.envrc"`)
    assert.equal(ran.controlFiles?.length, 1)
  })

  check("lets git make repositories, clone, commit and branch", async ({ sh }) => {
    const ran = await sh(`
      command -v git >/dev/null || exit 0
      export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
      git init -q -b main one && cd one && echo x > x && git add x && git commit -qm first && git branch other &&
      git worktree add -q ../tree other && cd .. && git clone -q one two && cd two && git log --oneline | grep -q first &&
      git -c protocol.file.allow=always submodule add -q ../one inner && git status && cd ../tree && git status`)
    assert.deepEqual([ran.exitCode, ran.stderr], [0, ""])
    assert.deepEqual(
      moved(ran).filter((path) => !path.endsWith(".gitmodules")),
      []
    )
    const again = await sh(
      "command -v git >/dev/null || exit 0; for d in one two tree two/inner; do git -C $d status >/dev/null || exit 1; done"
    )
    assert.deepEqual([again.exitCode, moved(again)], [0, []])
  })

  check("keeps control files that exist as they are, wherever they lie", async ({ sh, workspace }) => {
    const paths = [
      ".github/workflows/ci.yml",
      "deep/.npmrc",
      "deep/.vscode/tasks.json",
      "deep/.git/config",
      "deep/.git/hooks/a"
    ]
    for (const path of paths) workspace.put(path, "kept")
    const ran = await sh(
      paths.map((path) => `echo evil > ${path}; rm -f ${path}; echo evil > ${path}`).join("\n") +
        "\nmv deep gone; mkdir deep; for f in .npmrc .envrc; do echo evil > deep/$f; done"
    )
    for (const path of paths.slice(0, 1)) assert.equal(workspace.read(path), "kept", path)
    for (const path of paths.slice(1)) assert.equal(workspace.read(path.replace("deep", "gone")), "kept", path)
    assert.deepEqual(moved(ran), ["deep/.envrc", "deep/.npmrc"])
  })

  check("records control files among installed packages, and leaves no repository there", async ({ sh, workspace }) => {
    const ran = await sh(
      "mkdir -p node_modules/p/.git/hooks; echo x > node_modules/p/.npmrc; echo evil > node_modules/p/.git/hooks/pre-push"
    )
    assert.deepEqual(moved(ran), ["node_modules/p/.git/hooks/pre-push"])
    assert.deepEqual(
      ran.controlFiles?.filter(({ quarantine }) => quarantine === undefined).map(({ path }) => path),
      ["node_modules/p/.npmrc"]
    )
    assert.equal(workspace.exists("node_modules/p/.npmrc"), true)
  })

  check("looks behind a terminal, too, and behind one that is cancelled", async ({ sh, workspace }) => {
    const ran = await sh("echo evil > .envrc", { request: { terminal: true } })
    assert.deepEqual(moved(ran), [".envrc"])
    const late = await sh("echo evil > .envrc; sleep 60", { timeoutMs: 2000 })
    assert.deepEqual([late.timedOut, moved(late), workspace.exists(".envrc")], [true, [".envrc"], false])
  })

  check("says where the files are that it moved, for this user only", async ({ sh, workspace }) => {
    await sh("echo evil > .envrc")
    const [entry = ""] = readdirSync(join(workspace.state, "quarantine"))
    const record = join(workspace.state, "quarantine", entry, "record.json")
    assert.equal(statSync(record).mode & 0o077, 0)
    assert.match(readFileSync(record, "utf8"), /"path": "\.envrc"/)
  })
}

const moved = ({ controlFiles: changes = [] }: Ran): ReadonlyArray<string> =>
  changes
    .filter(({ quarantine }) => quarantine !== undefined)
    .map(({ path }) => path)
    .toSorted()
