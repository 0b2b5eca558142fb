import { describe, expect, it } from "@effect/vitest"

import { executedFiles } from "./executed-files.ts"

describe("executedFiles", () => {
  it.each([
    "./s.sh",
    "bash s.sh --flag",
    "A=1 ./s.sh > out",
    "true && ./s.sh",
    // Redirections.
    "bash < s.sh",
    "bash <s.sh",
    "0<s.sh bash",
    "< s.sh bash -s x",
    "{ bash; } < s.sh",
    "(cd .; sh) <s.sh",
    "node < s.sh",
    "python3 - < s.sh",
    "exec 3< s.sh; sh <&3",
    // Pipes.
    "cat s.sh | bash",
    "cat < s.sh | tee log | sh",
    "grep -v '^#' s.sh | sh -s",
    "xargs sh < s.sh",
    "echo s.sh | xargs sh",
    "cat s.sh |& bash",
    // Sourced, evaluated, substituted.
    ". s.sh",
    "source ./s.sh",
    'sh -c "$(cat s.sh)"',
    'eval "$(<s.sh)"',
    "eval `cat s.sh`",
    'bash <<< "$(cat s.sh)"',
    "bash <(cat s.sh)",
    "bash <<E\n. ./s.sh\nE",
    "X=s.sh; bash $X",
    "$SHELL s.sh",
    // Scripts in words.
    "bash -c 'bash s.sh'",
    `bash -c "bash -c 'cat s.sh | sh'"`,
    `python3 -c "exec(open('s.sh').read())"`,
    // Joined to options.
    "awk -fs.sh x",
    "make --file=s.sh",
    "env -S 'bash s.sh'",
    "git -c alias.x='!./s.sh' x",
    "vim +!./s.sh",
    // Found by a search path of its own.
    "PATH=.:$PATH s.sh",
    "export PATH+=:.; s.sh",
    "env PATH=. s.sh",
    // Quotes and escapes.
    String.raw`bash s\.sh`,
    "bash 's.'\"sh\"",
    "bash ./d/../s.sh"
  ])("finds s.sh in %j", (line) => {
    expect(executedFiles(line, ".").paths).toContain("s.sh")
  })

  it.each([
    ["too long", `bash s.sh #${"x".repeat(9000)}`],
    ["too long, with a quoted name,", `bash 's'".s"h #${"x".repeat(9000)}`],
    ["too tangled", `bash s.sh ${"$(".repeat(300)}`]
  ])("finds s.sh in a line that is %s to be parsed", (_why, line) => {
    expect(executedFiles(line, ".")).toEqual({ paths: expect.arrayContaining(["s.sh"]), isComplete: false })
  })

  it("is not complete for more names than it can bind", () => {
    const names = Array.from({ length: 600 }, (_, at) => `s${at}`)
    expect(executedFiles(`bash ${names.join(" ")}`, ".").isComplete).toBe(false)
  })

  it.each([
    ["./s.sh", "d", "d/s.sh"],
    ["cd d && ./s.sh", ".", "d/s.sh"],
    ["cd d; cd e; sh s.sh", ".", "d/e/s.sh"],
    ["(cd d && cat s.sh) | sh", ".", "d/s.sh"],
    ["make -C d all", ".", "d/Makefile"],
    ["npm --prefix d test", ".", "d/package.json"],
    ["env -C d sh s.sh", ".", "d/s.sh"],
    ["npm test", ".", "package.json"],
    ["make all", ".", "Makefile"],
    ["node ./x", ".", "x.js"],
    ["node d", ".", "d/index.js"],
    ["python3 -m a.b", ".", "a/b.py"],
    ["python3 d", ".", "d/__main__.py"],
    [`node -e 'require("./x")'`, ".", "x.js"],
    ["bash 'my script.sh'", ".", "my script.sh"]
  ])("%j in %s: %s", (line, directory, path) => {
    expect(executedFiles(line, directory).paths).toContain(path)
  })

  it.each(["ls -l src", "tail -n 5 server.log", "git status", "echo a > b", "cat *.log"])(
    "is empty for %j, which runs no file",
    (line) => {
      expect(executedFiles(line, ".")).toEqual({ paths: [], isComplete: true })
    }
  )

  it.each([
    ["bash s.sh", true],
    ["bash < s.sh", true],
    ["cat s.sh | sh", true],
    ["PATH=bin tool", false],
    ["PYTHONPATH=lib python -c 'import x'", false],
    ["NODE_PATH=lib node -p 1", false],
    ["PERL5LIB=lib perl -e 1", false],
    ["CI=1 sh s.sh", true],
    ["bash *.sh", false],
    ["bash s.{sh,bash}", false],
    ["bash $(ls | head -1)", false],
    ["bash ~/s.sh", false],
    ["cat list | xargs sh", false],
    ["find . -name x -exec sh {} +", false],
    ["run-parts d | sh", false]
  ])("%j: complete is %s", (line, isComplete) => {
    expect(executedFiles(line, ".").isComplete).toBe(isComplete)
  })
})
