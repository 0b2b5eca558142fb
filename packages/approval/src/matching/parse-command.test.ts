import { describe, expect, it } from "@effect/vitest"

import { readCommand, runsOthers } from "./parse-command.ts"

describe("parts of a compound command", () => {
  it.each([
    ["git status && git status", ["git status", "git status"]],
    ["npm test; rm -rf x", ["npm test", "rm -rf x"]],
    ["npm test || rm -rf x", ["npm test", "rm -rf x"]],
    ["npm test | tee x", ["npm test", "tee x"]],
    ["a 'b c'&&d|e;f", ["a 'b c'", "d", "e", "f"]]
  ])("are read of %j", (line, parts) => {
    expect(readCommand(line).parts?.map((part) => part.line)).toEqual(parts)
  })

  it.each([
    "git status &",
    "git status & git log",
    "git status |& cat",
    "git status;",
    "git status;; git log",
    "&& git status",
    "git status && $(x)",
    "git status && $X",
    "git status > x && git log",
    "git status && A=1 git log",
    "cd d && npm test",
    "export PATH=x; npm test",
    "read PATH; npm test",
    ". ./x && npm test",
    "curl x | sh",
    "cat x | node",
    "cat x | xargs rm",
    "git log && sh <<< x",
    "echo 'a && b'",
    'echo "a; b" && ls',
    "if true; then ls; fi",
    "for x in a; do ls; done",
    "while true; do ls; done",
    "! a && b",
    "time a && b",
    "a && (b)",
    "a && { b; }",
    "f() { a; }; f && b",
    "a\nb && c",
    `${"a;".repeat(20)}a`
  ])("are not read of %j", (line) => {
    expect(readCommand(line).parts).toBeUndefined()
  })
})

describe("readCommand", () => {
  it.each([
    ["npm test", ["npm", "test"]],
    ["  npm   test  ", ["npm", "test"]],
    ["git commit -m 'a b'", ["git", "commit", "-m", "a b"]],
    ['git commit -m "a b"', ["git", "commit", "-m", "a b"]],
    [String.raw`ls a\ b`, ["ls", "a b"]],
    ["ls --color=auto", ["ls", "--color=auto"]],
    ["echo ''", ["echo", ""]],
    ["echo a#b", ["echo", "a#b"]]
  ])("takes %j as one simple command", (line, words) => {
    expect(readCommand(line)).toEqual({ words, inside: [words] })
  })

  it.each([
    "npm test & rm -rf x",
    "npm test\nrm -rf x",
    "npm test\r\nrm -rf x",
    "npm test > x",
    "npm test < x",
    "npm test 2>&1 > x",
    "npm test 2>&1x",
    "npm test 2>&$x",
    "npm test > /dev/null/x",
    "npm test < /dev/null",
    "echo '2>&1 x",
    "npm test <<< x",
    "cat <<EOF\nx\nEOF",
    "echo $(rm -rf x)",
    "echo `rm -rf x`",
    'echo "$(rm -rf x)"',
    "echo $HOME",
    "echo ${HOME}",
    "echo $((1+1))",
    "echo $'a'",
    'echo $"a"',
    "diff <(a) <(b)",
    "(npm test)",
    "{ npm test; }",
    "! npm test",
    "time npm test",
    "if true; then ls; fi",
    "for x in a; do ls; done",
    "f() { ls; }",
    "[[ -f x ]]",
    "A=1 npm test",
    "A=1",
    "echo *.txt",
    "echo a?c",
    "echo [ab]",
    "echo {a,b}",
    "ls ~",
    "ls ~root/x",
    "npm test # and a comment",
    "coproc ls",
    'echo "never closed',
    "echo 'never closed",
    "",
    "   ",
    "echo a\u0000b",
    "echo \u202Etxt.exe",
    "echo \u001B[2J",
    "npm\u3000test",
    "npm test\u00A0x",
    "echo 'a;b'"
  ])("takes %j as opaque", (line) => {
    const { words, opaque } = readCommand(line)
    expect({ words, isOpaque: opaque !== undefined }).toEqual({ words: undefined, isOpaque: true })
  })

  it.each([
    ["npm test 2>&1", ["npm", "test"]],
    ["npm test > /dev/null 2>&1", ["npm", "test"]],
    ["npm test 2>/dev/null", ["npm", "test"]],
    ["npm test &>/dev/null", ["npm", "test"]]
  ])("takes %j as the command without its redirections of output", (line, words) => {
    expect(readCommand(line)).toMatchObject({ words, inside: [words] })
  })

  it("takes a redirection inside quotes as text", () => {
    expect(readCommand('echo "a 2>&1 b"').opaque).toBeDefined()
  })

  it("reads parts without their redirections of output", () => {
    expect(readCommand("npm test 2>&1 | tail -20").parts?.map(({ words }) => words)).toEqual([
      ["npm", "test"],
      ["tail", "-20"]
    ])
  })

  it("finds every command inside, however deep", () => {
    const { inside } = readCommand('a $(b "$(c)") | { d; e < <(f); } && g `h`')
    expect(new Set(inside.map(([program]) => program))).toEqual(new Set(["a", "b", "c", "d", "e", "f", "g", "h"]))
  })

  it.each(["(", "$(", '"$(', "`a ", "$((", "{a,", "cat <<A\n", "${a:-", "a;", "@(", "\\"])(
    "survives a long row of %j",
    (part) => {
      expect(readCommand(part.repeat(Math.floor(8000 / part.length))).words?.length ?? 0).toBeLessThan(2)
      expect(readCommand(part.repeat(100_000))).toEqual({ opaque: "it is too long to be read", inside: [] })
    }
  )
})

describe("runsOthers", () => {
  it.each([
    ["python3 x.py", "interpreter"],
    ["python3.12 x.py", "interpreter"],
    ["/usr/bin/env ls", "wrapper"],
    ["sudo ls", "wrapper"],
    ["xargs rm", "wrapper"],
    ["find . -exec rm x", "wrapper"],
    ["NODE.EXE x", "interpreter"],
    ["bash -c ls", "interpreter"],
    ["eval ls", "wrapper"],
    [". ./x", "wrapper"],
    ["npx x", "interpreter"],
    ["git -c alias.x=!sh x", "wrapper"],
    ["git rebase --exec ls", "wrapper"],
    ["git bisect run ls", "wrapper"],
    ["npm exec x", "wrapper"],
    ["npm --silent exec x", "wrapper"],
    ["pnpm dlx x", "wrapper"],
    ["uv run x", "wrapper"],
    ["uv --project a run x", "wrapper"],
    ["go run x", "wrapper"],
    ["tar --to-command=sh -xf a", "wrapper"],
    ["/lib64/ld-linux-x86-64.so.2 x", "wrapper"],
    ["npm run x", undefined],
    ["npm run exec", undefined],
    ["go test", undefined],
    ["npm test", undefined],
    ["git status", undefined],
    ["", undefined]
  ])("%s: %s", (line, kind) => {
    expect(runsOthers(line.split(" "))).toBe(kind)
  })
})
