import { describe, expect, it } from "vitest"

import { onlyReads } from "./reading-commands.ts"

describe("a command that only reads", () => {
  it.each([
    "ls",
    "ls -la src",
    "grep -rn 'a|b' . | head -n 20",
    'rg --files "a b" | sort -u | wc -l',
    "find . -name '*.ts' -type f",
    "cat a b | tr a-z A-Z"
  ])("is %j", (command) => expect(onlyReads(command)).toBe(true))

  it.each([
    "",
    "npm test",
    "grep x . > out",
    "cat `touch a`",
    "cat $(touch a)",
    "ls; rm a",
    "ls & rm a",
    "ls | tee a",
    "ls | xargs rm",
    "find . -delete",
    "find . -exec rm {} +",
    "find . -fprint out",
    "find . '-delete'",
    "sort -o out a",
    "sort -uo out a",
    "sort --output=out a",
    "sort -T dir a",
    "rg --pre=./run x",
    "file -C",
    "X=1 ls",
    "./ls",
    "cat 'open",
    "ls\nrm a",
    "git status"
  ])("is not %j", (command) => expect(onlyReads(command)).toBe(false))
})
