import { describe, expect, it } from "vitest"

import { openGrammars } from "./grammars.ts"
import { languageNamed, languageOf } from "./language.ts"
import { parseSymbols } from "./parse-symbols.ts"
import { sectionsOf } from "./sections.ts"

const sectionsIn = async (path: string, source: string) => {
  const name = languageOf(path)
  const grammars = await openGrammars()
  return sectionsOf(source, name, name === undefined || name === "markdown" ? undefined : await grammars?.load(name))
}

/** A definition as `kind container.name lines`. */
const shortly = async (path: string, source: string): Promise<ReadonlyArray<string>> =>
  (await sectionsIn(path, source)).map(
    ({ kind, container, name, startLine, endLine }) =>
      `${kind} ${container === "" ? "" : `${container}.`}${name} ${startLine}-${endLine}`
  )

describe("definitions are found in", () => {
  it.each<readonly [string, string, ReadonlyArray<string>]>([
    [
      "a.ts",
      "export abstract class A {\n  abstract z(): void\n  foo() {}\n}\nexport interface I { m(): void }\ntype T = 1\nenum E { A }\nnamespace N {\n  export function g() {}\n}\nexport const f = async () => 1\nconst o = { m() {}, k: 1 }\ndeclare function d(): void\nconst { a, b } = o\nexport default function () {}",
      [
        "class A 1-4",
        "method A.z 2-2",
        "method A.foo 3-3",
        "interface I 5-5",
        "method I.m 5-5",
        "type T 6-6",
        "enum E 7-7",
        "module N 8-10",
        "function N.g 9-9",
        "function f 11-11",
        "constant o 12-12",
        "method o.m 12-12",
        "function d 13-13"
      ]
    ],
    ["a.tsx", "export const C = () => <div>{1}</div>\n", ["function C 1-1"]],
    [
      "a.mjs",
      "function* g() {}\nclass A { m() {} }\nvar f = function () {}\n",
      ["function g 1-1", "class A 2-2", "method A.m 2-2", "function f 3-3"]
    ],
    [
      "a.py",
      "@decorated\nclass A(B):\n    def f(self):\n        pass\n\nasync def g():\n    pass\n\nLIMIT = 3\na.b = 4\n",
      ["class A 1-4", "method A.f 3-4", "function g 6-7", "constant LIMIT 9-9"]
    ],
    [
      "a.go",
      "package a\nfunc (s *S[T]) Bar() {}\ntype S struct { A int }\ntype I interface { M() }\ntype N int\nconst X = 1\nvar (\n\tY = 2\n)\n",
      ["method S.Bar 2-2", "class S 3-3", "interface I 4-4", "type N 5-5", "constant X 6-6", "constant Y 8-8"]
    ],
    [
      "a.rs",
      "pub struct S { a: i32 }\nimpl<T> Show for S<T> {\n    fn bar(&self) {}\n}\ntrait T { fn q(&self); }\nmod m { fn z() {} }\nmacro_rules! mm { () => {} }\n",
      [
        "class S 1-1",
        "class S 2-4",
        "method S.bar 3-3",
        "interface T 5-5",
        "function T.q 5-5",
        "module m 6-6",
        "method m.z 6-6",
        "macro mm 7-7"
      ]
    ],
    [
      "A.java",
      "public class A {\n  A() {}\n  void f(int a) {}\n  enum E { X; void g() {} }\n  record R(int a) {}\n}\n",
      ["class A 1-6", "method A.A 2-2", "method A.f 3-3", "enum A.E 4-4", "method E.g 4-4", "class A.R 5-5"]
    ],
    [
      "a.c",
      "#ifndef A\n#define MAX(a) a\nstruct point { int x; };\ntypedef struct { int a; } pair;\nint add(int a);\nstatic char *copy(char *a) {\n  return a;\n}\nint counter;\n#endif\n",
      ["macro MAX 2-2", "class point 3-3", "type pair 4-4", "function add 5-5", "function copy 6-8"]
    ],
    [
      "a.cpp",
      "namespace n {\nclass A {\n  void f();\n  int &g() { return x; }\n};\n}\ntemplate <class T>\nT id(T x) { return x; }\nvoid n::A::f() {}\n",
      ["module n 1-6", "class n.A 2-5", "method A.f 3-3", "method A.g 4-4", "function id 7-8", "method A.f 9-9"]
    ],
    [
      "a.cs",
      "namespace N {\n  public class A {\n    public int P { get; set; }\n    void F() {}\n  }\n  interface I {}\n}\n",
      ["module N 1-7", "class N.A 2-5", "constant A.P 3-3", "method A.F 4-4", "interface N.I 6-6"]
    ],
    [
      "a.rb",
      "module M\n  class A < B\n    def f(x)\n    end\n    def self.g; end\n  end\nend\n",
      ["module M 1-7", "class M.A 2-6", "method A.f 3-4", "method A.g 5-5"]
    ],
    [
      "a.php",
      "<?php\nclass A {\n  function f() {}\n}\ninterface I {}\nfunction g() {}\n",
      ["class A 2-4", "method A.f 3-3", "interface I 5-5", "function g 6-6"]
    ],
    ["a.sh", "foo() {\n  :\n}\nfunction bar { :; }\n", ["function foo 1-3", "function bar 4-4"]],
    [
      "a.md",
      "intro\n# A\ntext\n### B #\n## C\n~~~\n# no\n~~~\n",
      ["heading A 2-3", "heading A.B 4-4", "heading A.C 5-8"]
    ],
    ["Gemfile", "def a; end\n", ["method a 1-1"]],
    ["a.unknown", "x\n".repeat(130), ["lines  1-60", "lines  61-120", "lines  121-130"]],
    ["b.md", "no heading\n", ["lines  1-1"]]
  ])("%s", async (path, source, expected) => {
    expect(await shortly(path, source)).toEqual(expected)
  })

  it("sources with the comment above, the docstring inside, and the declaration without its body", async () => {
    const [typescript] = await sectionsIn(
      "a.ts",
      "/**\n * Reads a file.\n * @returns text\n */\n@sealed\nexport class A extends B {}\n"
    )
    expect(typescript).toMatchObject({ doc: "Reads a file.\n@returns text", signature: "class A extends B" })
    const [python] = await sectionsIn("a.py", 'def f(a,\n      b):\n    """Adds two."""\n    return a + b\n')
    expect(python).toMatchObject({ doc: "Adds two.", signature: "def f(a, b)" })
    const [rust] = await sectionsIn("a.rs", "/// Doubles.\n#[inline]\npub fn f(a: i32) -> i32 { a * 2 }\n")
    expect(rust).toMatchObject({ doc: expect.stringContaining("Doubles."), signature: "pub fn f(a: i32) -> i32" })
  })
})

describe("damaged and hostile sources", () => {
  const pieces = [
    "class ",
    "function ",
    "def ",
    "fn ",
    "{",
    "}",
    "(",
    ")",
    "<",
    ">",
    "::",
    "\n",
    "    ",
    "é",
    "\u0000",
    "`",
    '"',
    "'",
    "/*",
    "*/",
    "//",
    "#",
    "=",
    "x",
    "Y",
    "1",
    ";",
    ":"
  ]
  let state = 7
  const below = (limit: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * limit)
  }

  it.each([
    "a.ts",
    "a.tsx",
    "a.js",
    "a.py",
    "a.go",
    "a.rs",
    "a.java",
    "a.c",
    "a.cs",
    "a.rb",
    "a.php",
    "a.sh",
    "a.md",
    "a.x"
  ])("give sections with lines inside of %s", async (path) => {
    for (let round = 0; round < 40; round++) {
      const source = Array.from({ length: below(120) }, () => pieces[below(pieces.length)]).join("")
      const lines = source.split("\n").length
      for (const { startLine, endLine } of await sectionsIn(path, source)) {
        expect(startLine >= 1 && startLine <= endLine && endLine <= lines, JSON.stringify(source)).toBe(true)
      }
    }
  })

  it("of a hundred thousand nested blocks end", async () => {
    const sections = await sectionsIn("a.ts", `${"namespace a {".repeat(2000)}${"}".repeat(2000)}`)
    expect(sections.length).toBeLessThan(2000)
  })

  it("that a parser gives up on are indexed by lines", () => {
    const givesUp = () => undefined
    expect(parseSymbols(languageNamed("go"), givesUp, "func a() {}")).toBe(undefined)
    expect(sectionsOf("func a() {}", "go", givesUp)).toMatchObject([{ kind: "lines", startLine: 1, endLine: 1 }])
  })
})
