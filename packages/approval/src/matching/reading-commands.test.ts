import { describe, expect, it } from "vitest"

import { onlyReads } from "./reading-commands.ts"

describe("commands that only read", () => {
  it.each([
    "ls -la src",
    "git status",
    "git status && git diff",
    "git log --oneline -5",
    "git diff --stat HEAD~1 | head -20",
    "cat a.txt 2>/dev/null",
    "grep -rn TODO src | wc -l",
    "tail -20 log 2>&1",
    "sort a.txt | uniq -c"
  ])("%s", (line) => {
    expect(onlyReads(line)).toBe(true)
  })

  it.each([
    "npm test",
    "rm a.txt",
    "ls > files.txt",
    "cat a.txt >> b.txt",
    "git commit -am x",
    "git -c core.pager=sh log",
    "git diff --output=x",
    "git log --ext-diff",
    "git branch new",
    "./ls",
    "src/cat a",
    "ls; rm a",
    "ls $(rm a)",
    "ls | sh",
    "cat a | tee b",
    "sort -o a b",
    "A=b ls",
    "echo `rm a`",
    'sh -c "ls"',
    "find . -delete",
    "tree -o x",
    "uniq a b",
    "file -C -m x",
    ""
  ])("%s is not one", (line) => {
    expect(onlyReads(line)).toBe(false)
  })
})
