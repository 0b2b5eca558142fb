import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"

import { describe, expect, it } from "@effect/vitest"
import { type GlobOptions, type GlobResult, Workspace } from "@haft/core"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"

import { openRoot } from "../paths/containment.ts"
import { nodeWorkspace } from "../workspace.ts"
import { globSource } from "./directory-source.ts"
import { globFiles, type GlobSource } from "./glob.ts"

const sourceAt = (root: string): GlobSource => globSource(openRoot(root))

const temporaryTree = (files: Readonly<Record<string, string>>) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const root = mkdtempSync(join(tmpdir(), "haft-glob-"))
      for (const [path, content] of Object.entries(files)) {
        mkdirSync(dirname(join(root, path)), { recursive: true })
        writeFileSync(join(root, path), content)
      }
      return root
    }),
    (root) => Effect.sync(() => rmSync(root, { recursive: true, force: true }))
  )

const empty = (...paths: ReadonlyArray<string>): Record<string, string> =>
  Object.fromEntries(paths.map((path) => [path, ""]))

const globIn = Effect.fnUntraced(function* (
  files: Readonly<Record<string, string>>,
  pattern: string,
  { directory = ".", ...options }: GlobOptions & { directory?: string } = {}
) {
  const root = yield* temporaryTree(files)
  return yield* globFiles(sourceAt(root), directory, pattern, options)
})

const found = (...paths: ReadonlyArray<string>): GlobResult => ({ paths, total: paths.length, unreadable: 0 })

describe("what a pattern matches", () => {
  const files = empty("a.py", "b.txt", "sub/c.py", "sub/deep/d.py", ".hidden.py", ".config/e.py", "sub/[x].py")

  it.live.each([
    ["*.py", [".hidden.py", "a.py"]],
    ["**/*.py", [".config/e.py", ".hidden.py", "a.py", "sub/[x].py", "sub/c.py", "sub/deep/d.py"]],
    ["./sub/*.py", ["sub/[x].py", "sub/c.py"]],
    ["sub/**", ["sub/[x].py", "sub/c.py", "sub/deep/d.py"]],
    ["sub/c.py", ["sub/c.py"]],
    ["sub/none.py", []],
    ["none/**", []],
    ["{a,b}.*", ["a.py", "b.txt"]],
    ["{sub,sub/deep}/**/*.py", ["sub/[x].py", "sub/c.py", "sub/deep/d.py"]],
    ["[ab].*", ["a.py", "b.txt"]],
    ["[!a].*", ["b.txt"]],
    ["?.py", ["a.py"]],
    ["@(a|b).*", ["a.py", "b.txt"]],
    ["sub/\\[x\\].py", ["sub/[x].py"]],
    ["sub", []],
    ["**/deep/**", ["sub/deep/d.py"]],
    ["**/*/d.py", ["sub/deep/d.py"]],
    ["*/**/*.py", [".config/e.py", "sub/[x].py", "sub/c.py", "sub/deep/d.py"]],
    ["sub/!(c).py", ["sub/[x].py"]],
    ["sub//c.py", ["sub/c.py"]],
    ["sub/@(c.py|deep/d.py)", ["sub/c.py", "sub/deep/d.py"]],
    ["@(sub/deep|.config)/*", [".config/e.py", "sub/deep/d.py"]],
    ["sub/", []],
    ["**.txt", ["b.txt"]],
    ["**.py", [".config/e.py", ".hidden.py", "a.py", "sub/[x].py", "sub/c.py", "sub/deep/d.py"]],
    ["!(sub)/*", [".config/e.py"]]
  ] as const)("matches %s", ([pattern, paths]) =>
    Effect.gen(function* () {
      expect(yield* globIn(files, pattern)).toEqual(found(...paths))
    })
  )

  it.live("matches relative to the directory asked for", () =>
    Effect.gen(function* () {
      expect(yield* globIn(files, "*.py", { directory: "sub" })).toEqual(found("[x].py", "c.py"))
    })
  )

  it.live("sorts by code unit, not by name or locale", () =>
    Effect.gen(function* () {
      const result = yield* globIn(empty("a/x", "a.x", "a-x", "B", "é", "b"), "**/*")
      expect(result.paths).toEqual(["B", "a-x", "a.x", "a/x", "b", "é"])
    })
  )

  it.live("shows the first of many and counts them all", () =>
    Effect.gen(function* () {
      const files = empty(
        ...Array.from({ length: 300 }, (_, index) => `d${index % 150}/f${String(index).padStart(3, "0")}`)
      )
      const result = yield* globIn(files, "**/*", { limit: 2 })
      expect(result).toEqual({ paths: ["d0/f000", "d0/f150"], total: 300, unreadable: 0 })
    })
  )

  it.live("ends with what it has when time is up", () =>
    Effect.gen(function* () {
      const real = sourceAt(yield* temporaryTree(empty("a", "b")))
      const walk: GlobSource["walk"] = (directory, visitor) => {
        const endless = real.walk(directory, visitor)
        return { close: endless.close, advance: (milliseconds) => endless.advance(milliseconds) && false }
      }
      const result = yield* globFiles({ ...real, walk }, ".", "*", { timeLimitMs: 1 })
      expect(result).toEqual({ ...found("a", "b"), timedOut: true })
    })
  )

  it.live("looks no deeper than asked, and says where it could have", () =>
    Effect.gen(function* () {
      const files = { ...empty("a", "1/a", "1/2/a", "1/2/3/a", "1/ignored/a"), "1/.gitignore": "ignored" }
      const asked = { maxDepth: 1, respectIgnore: true }
      expect(yield* globIn(files, "**/a", asked)).toEqual({ ...found("1/a", "a"), tooDeep: 1 })
      expect(yield* globIn(files, "1/2/*", asked)).toEqual({ ...found(), tooDeep: 1 })
      expect(yield* globIn(files, "1/*", asked)).toEqual(found("1/.gitignore", "1/a"))
      expect(yield* globIn(files, "**/a", { maxDepth: 3 })).toEqual(
        found("1/2/3/a", "1/2/a", "1/a", "1/ignored/a", "a")
      )
    })
  )
})

describe("what a glob never sees", () => {
  it.live("leaves .git out at any depth, also when a pattern names it", () =>
    Effect.gen(function* () {
      const files = empty(".git/config", "sub/.git/config", "kept", ".gitignore")
      expect(yield* globIn(files, "**/*")).toEqual(found(".gitignore", "kept"))
      expect(yield* globIn(files, ".git/config")).toEqual(found())
      expect(yield* globIn(files, ".git/**")).toEqual(found())
    })
  )

  it.live("follows no link, not even one that a pattern names", () =>
    Effect.gen(function* () {
      const outside = yield* temporaryTree(empty("secret"))
      const root = yield* temporaryTree(empty("sub/kept"))
      symlinkSync(outside, join(root, "out"))
      symlinkSync(join(root, "sub"), join(root, "in"))
      symlinkSync(join(outside, "secret"), join(root, "file"))
      const glob = (pattern: string) => globFiles(sourceAt(root), ".", pattern)
      expect(yield* glob("**/*")).toEqual(found("sub/kept"))
      expect(yield* glob("out/*")).toEqual(found())
      expect(yield* glob("out/secret")).toEqual(found())
    })
  )

  it.live("leaves out files whose name is not UTF-8, and counts them", () =>
    Effect.gen(function* () {
      const root = yield* temporaryTree(empty("a", "\uFFFD"))
      writeFileSync(Buffer.concat([Buffer.from(`${root}/b`), Buffer.from([0xff])]), "")
      const result = yield* globFiles(sourceAt(root), ".", "*")
      expect(result).toEqual({ paths: ["a", "\uFFFD"], total: 2, unreadable: 0, unnameable: 1 })
    })
  )

  it.live("finds names with line breaks", () =>
    Effect.gen(function* () {
      const names = ["\nfirst.py", "in\nside.py"]
      for (const pattern of ["*", "*.py", "**", "**/*.py"]) {
        expect(yield* globIn(empty(...names), pattern)).toEqual(found(...names))
      }
    })
  )

  it.live("sees nothing of .git when it begins there", () =>
    Effect.gen(function* () {
      expect(yield* globIn(empty("d/.git/config"), "**", { directory: "d/.git" })).toEqual(found())
    })
  )

  it.live("counts directories it could not read", () =>
    Effect.gen(function* () {
      const root = yield* temporaryTree(empty("open/a", "closed/b"))
      const real = sourceAt(root)
      const walk: GlobSource["walk"] = (directory, visitor) => {
        const visit: typeof visitor.visit = (entry) => {
          const step = visitor.visit(entry)
          if (entry.name === "closed") rmSync(join(root, "closed"), { recursive: true })
          return step
        }
        return real.walk(directory, {
          visit,
          enter: (entered) => visitor.enter?.(entered),
          skip: (path) => visitor.skip?.(path)
        })
      }
      const result = yield* globFiles({ ...real, walk }, ".", "**/*")
      expect(result).toEqual({ paths: ["open/a"], total: 1, unreadable: 1 })
    })
  )
})

describe("ignored files", () => {
  const files = {
    ...empty(
      "a.log",
      "keep.log",
      "build/x",
      "src/a.ts",
      "src/gen/y.ts",
      "src/keep/z.gen",
      "src/b.gen",
      "src/sub/only.txt"
    ),
    ".gitignore": "*.log\n!keep.log\n/build/\n*a*a*a*a*a*b\n",
    "src/.gitignore": "gen/\n*.gen\n/only.txt\n",
    "src/keep/.gitignore": "!*.gen\n"
  }

  it.live("shows them unless told to respect .gitignore", () =>
    Effect.gen(function* () {
      expect((yield* globIn(files, "**/*")).total).toBe(11)
    })
  )

  it.live("respects nested .gitignore files, the nearest last", () =>
    Effect.gen(function* () {
      expect((yield* globIn(files, "**/*", { respectIgnore: true })).paths).toEqual([
        ".gitignore",
        "keep.log",
        "src/.gitignore",
        "src/a.ts",
        "src/keep/.gitignore",
        "src/keep/z.gen",
        "src/sub/only.txt"
      ])
    })
  )

  it.live("respects the .gitignore files above the directory asked for", () =>
    Effect.gen(function* () {
      const nested = { ...files, ...empty("src/sub/x.log", "src/sub/y.gen") }
      expect(yield* globIn(nested, "**", { respectIgnore: true, directory: "src/sub" })).toEqual(found("only.txt"))
    })
  )

  it.live("looks into an ignored directory that was asked for by name", () =>
    Effect.gen(function* () {
      const nested = {
        ...empty("build/out/x.js", "build/out/y.log"),
        ".gitignore": "build\n",
        "build/.gitignore": "*.log\n"
      }
      expect(yield* globIn(nested, "**", { respectIgnore: true, directory: "build/out" })).toEqual(found("x.js"))
    })
  )

  it.live("finds nothing in an ignored directory that a pattern names", () =>
    Effect.gen(function* () {
      expect(yield* globIn(files, "build/*", { respectIgnore: true })).toEqual(found())
      expect(yield* globIn(files, "build/x", { respectIgnore: true })).toEqual(found())
      expect(yield* globIn(files, "src/keep/z.gen", { respectIgnore: true })).toEqual(found("src/keep/z.gen"))
    })
  )
})

describe("a rule of .gitignore", () => {
  it.live.each([
    ["a", ["a", "d/a", "d/a/x"], ["A", "ab"]],
    ["a/", ["d/a/x"], ["a", "A"]],
    ["/a", ["a"], ["d/a"]],
    ["d/a", ["d/a"], ["e/d/a", "a"]],
    ["**/d/a", ["d/a", "e/d/a"], ["a"]],
    ["d/**", ["d/a", "d/b/c"], ["a"]],
    ["d/**/c", ["d/c", "d/b/c"], ["c"]],
    ["/**", ["a", "d/b/c"], []],
    ["*.o", ["x.o", ".o", "d/x.y.o"], ["x.O", "x.o.c"]],
    ["*.y.o", ["x.y.o"], ["x.o"]],
    ["?", ["a"], ["ab", "é"]],
    ["??", ["ab", "é"], ["a"]],
    ["[ab]x", ["ax", "bx"], ["cx", "x"]],
    ["[!a]x", ["bx"], ["ax", "d/ax"]],
    ["[]a]x", ["]x", "ax"], ["bx"]],
    ["[[:digit:]-]x", ["1x", "-x"], ["ax"]],
    ["[a-c]x", ["bx"], ["-x", "dx"]],
    [String.raw`\#a`, ["#a"], ["a"]],
    ["#a", [], ["#a"]],
    [String.raw`\!a`, ["!a"], ["a"]],
    [String.raw`a\ `, ["a "], ["a"]],
    ["a  ", ["a"], ["a "]],
    ["{a,b}", ["{a,b}"], ["a"]],
    ["[c-a]", [], ["a", "b", "c"]],
    ["[a", [], ["[a", "a"]],
    ["a\nb\n!a", ["b"], ["a"]],
    ["*.o\n!x.o\n/x.o", ["x.o", "y.o"], ["d/x.o"]],
    ["\uFEFFa", ["a"], ["b"]],
    ["a\r\nb\r\n", ["a", "b"], ["c"]],
    ["a\r\nb\r", ["a", "b"], ["b\r"]]
  ] as const)("%j means what it means to git", ([rules, ignored, kept]) =>
    Effect.gen(function* () {
      // A file and a directory may have the same name here, so each is looked for in a tree of its own.
      for (const path of [...ignored, ...kept]) {
        const { paths } = yield* globIn({ ".gitignore": rules, [path]: "" }, "**/*", { respectIgnore: true })
        expect([path, paths.includes(path)]).toEqual([path, (kept as ReadonlyArray<string>).includes(path)])
      }
    })
  )
})

describe("patterns with many stars", () => {
  const names = ["abcd", "a1b2c3d4", "abdc", "aXbXcXd", ".abcd", "xaybzcwd", "abc", "a?b?c?d"]
  it.live.each([
    ["*a*b*c*d*", ["abcd", "a1b2c3d4", "aXbXcXd", ".abcd", "xaybzcwd", "a?b?c?d"]],
    ["a*b*c*d*", ["abcd", "a1b2c3d4", "aXbXcXd", "a?b?c?d"]],
    ["*a*b*c*d", ["abcd", "aXbXcXd", ".abcd", "xaybzcwd", "a?b?c?d"]],
    ["a?b*c*d*?*", ["a1b2c3d4"]],
    ["d/*a*b*c*d*", []]
  ] as ReadonlyArray<[string, ReadonlyArray<string>]>)("%j matches %j", ([pattern, expected]) =>
    Effect.gen(function* () {
      const { paths } = yield* globIn(empty(...names), pattern)
      expect(paths.toSorted()).toEqual([...expected].toSorted())
    })
  )

  it.live("take linear time", () =>
    Effect.gen(function* () {
      const { paths } = yield* globIn(empty("a".repeat(250)), `${"*a".repeat(200)}*b`)
      expect(paths).toEqual([])
    })
  )
})

describe("patterns that are refused", () => {
  it.live.each([
    ["", "it is empty"],
    ["**/*[.go", "an opening [ is never closed"],
    ["[]", "an opening [ is never closed"],
    ["[[:alpha:]", "an opening [ is never closed"],
    ["src/{a,b/*.ts", "an opening { is never closed"],
    ["[z-a].ts", "a range in [ ] ends before it begins"],
    ["a\0b", "it contains a NUL character"],
    ["/etc/*", "it is absolute; patterns are relative to the directory"],
    ["../*", "it leads out of the directory with '..'"],
    ["{sub,..}/*", "it leads out of the directory with '..'"],
    ["a/./b", "a '.' can only be at its beginning"],
    ["!*.ts", "it only says what to leave out"],
    ["+(a|aa)b", "repetition with +( ) is not supported"],
    ["{a,b}".repeat(9), "its { } stand for more than 256 patterns"],
    ["{1..1000}{1..1000}{1..1000}", "its { } stand for more than 256 patterns"],
    ["{-9..99999999999999999999}", "its { } stand for more than 256 patterns"],
    ["{a..z}{a..z}", "its { } stand for more than 256 patterns"],
    ["**/*a*a*a*a*a*[b]", "it has more than 3 * or ( ) competing for the same names"],
    ["?(a)".repeat(30), "it has more than 3 * or ( ) competing for the same names"],
    ["@(a|aa)(a|aa)!(b)*", "it has more than 3 * or ( ) competing for the same names"],
    ["(a|aa)+b", "a + after ) or ] would mean a repetition, which is not supported; \\+ is the character"],
    ["[a]+[a]+b", "a + after ) or ] would mean a repetition, which is not supported; \\+ is the character"],
    ["**/a/".repeat(5), "it has more than 4 **"]
  ] as const)("refuses %j", ([pattern, problem]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(globIn(empty("a"), pattern))
      expect([error.code, error.message]).toEqual(["invalid_pattern", `invalid glob pattern '${pattern}': ${problem}`])
    })
  )

  it.live("refuses an endless pattern without repeating all of it", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(globIn({}, "a".repeat(5000)))
      expect(error.message).toBe(`invalid glob pattern '${"a".repeat(200)}…': it has more than 4096 characters`)
    })
  )

  it.live.each([
    "a]",
    "}",
    "\\[",
    "\\{",
    "[]]",
    "[[:alpha:]]",
    "[^a]",
    "{a}",
    "a{b,c}d",
    "{1..9}{a..f}",
    "(a)",
    "@(a|b).ts",
    "[\\]]",
    "[a]\\+"
  ])("accepts %s", (pattern) =>
    Effect.gen(function* () {
      yield* globIn(empty("a"), pattern)
    })
  )
})

it.live("stops reading when it is interrupted", () =>
  Effect.gen(function* () {
    const seen = { slices: 0, isClosed: false }
    const endless: GlobSource = {
      walk: () => ({ advance: () => (seen.slices++, false), close: () => (seen.isClosed = true) }),
      read: () => undefined,
      readAt: () => undefined,
      isThere: () => true,
      shared: (read) => read
    }
    const fiber = yield* Effect.forkChild(globFiles(endless, ".", "**/*"), { startImmediately: true })
    while (seen.slices === 0) yield* Effect.sleep("1 millis")
    yield* Fiber.interrupt(fiber)
    const before = seen.slices
    yield* Effect.sleep("20 millis")
    expect(seen).toEqual({ slices: before, isClosed: true })
  })
)

describe("through a workspace", () => {
  const globOf = (root: string, path: string, pattern: string, options?: GlobOptions) =>
    Workspace.use((workspace) => workspace.glob(path, pattern, options)).pipe(
      Effect.provide(nodeWorkspace({ root, state: `${root}-state` }))
    )

  it.live("finds files below a directory and respects what is ignored above it", () =>
    Effect.gen(function* () {
      const files = { ...empty("a/b/c.ts", "a/b/c.log", "a/b/d/e.ts", "a/f.ts"), "a/.gitignore": "*.log\nd/\n" }
      const root = yield* temporaryTree(files)
      expect(yield* globOf(root, "a/b", "**")).toEqual(found("c.log", "c.ts", "d/e.ts"))
      expect(yield* globOf(root, "a/b", "**", { respectIgnore: true })).toEqual(found("c.ts"))
    })
  )

  it.live("finds links by their own names when asked to, ignored ones and what they lead to not", () =>
    Effect.gen(function* () {
      const root = yield* temporaryTree({
        "real/x.ts": "",
        "a.ts": "",
        ".gitignore": "ignored.ts\nonly-directories/\n"
      })
      symlinkSync("a.ts", join(root, "link.ts"))
      symlinkSync("real", join(root, "directory.ts"))
      symlinkSync("nowhere", join(root, "broken.ts"))
      symlinkSync("a.ts", join(root, "ignored.ts"))
      symlinkSync("real", join(root, "only-directories"))
      const options = { respectIgnore: true, includeLinks: true }
      const links = ["broken.ts", "directory.ts", "link.ts"]
      const paths = ["a.ts", ...links, "real/x.ts"]
      expect(yield* globOf(root, ".", "**/*.ts", options)).toEqual({ ...found(...paths), links })
      const first = { paths: paths.slice(0, 3), links: links.slice(0, 2), total: 5, unreadable: 0 }
      expect(yield* globOf(root, ".", "**/*.ts", { ...options, limit: 3 })).toEqual(first)
      expect(yield* globOf(root, ".", "only-*", options)).toEqual({
        ...found("only-directories"),
        links: ["only-directories"]
      })
    })
  )

  it.live("starts behind a link that stays inside, and follows none below", () =>
    Effect.gen(function* () {
      const root = yield* temporaryTree(empty("real/x.ts"))
      symlinkSync("real", join(root, "link"))
      symlinkSync("/etc", join(root, "real/out"))
      symlinkSync("/etc/passwd", join(root, "real/.gitignore"))
      expect(yield* globOf(root, "link", "**", { respectIgnore: true })).toEqual(found("x.ts"))
    })
  )

  it.live("reads rules with spaces and backslashes by the hundred thousand in no time", () =>
    Effect.gen(function* () {
      const rules = [`${" ".repeat(400_000)}x`, `${"\\".repeat(400_000)}x`, "*.log", "spaced\\ ", "plain  "].join("\n")
      const files = { ".gitignore": rules, ...empty("x.log", "spaced ", "plain", "kept") }
      const { paths } = yield* globIn(files, "**/*", { respectIgnore: true })
      expect(paths).toEqual([".gitignore", "kept"])
    })
  )

  it.live("takes an ignore file of more than a megabyte for none", () =>
    Effect.gen(function* () {
      const root = yield* temporaryTree({ "x.log": "", ".gitignore": "*.log\n".repeat(200_000) })
      expect(yield* globOf(root, ".", "*.log", { respectIgnore: true })).toEqual(found("x.log"))
    })
  )

  it.live.each([
    ["none", "file_not_found"],
    ["x", "not_a_directory"],
    ["..", "path_outside_workspace"]
  ] as const)("refuses the directory %s", ([path, code]) =>
    Effect.gen(function* () {
      const root = yield* temporaryTree(empty("x"))
      expect((yield* Effect.flip(globOf(root, path, "**"))).code).toBe(code)
    })
  )
})
