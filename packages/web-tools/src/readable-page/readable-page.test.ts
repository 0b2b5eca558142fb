import { deflateSync } from "node:zlib"

import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"

import { htmlToMarkdown } from "./html-to-markdown.ts"
import { pdfText } from "./pdf-text.ts"
import { rawText, readablePage } from "./readable-page.ts"

const url = "https://site.test/docs/page.html"
const sentence = "People read whole sentences, with commas, and not the furniture around them. "
const paragraph = `<p>${sentence.repeat(5)}</p>`

const page = (body: string, head = "") =>
  `<!doctype html><html><head><title>A  page &amp; more</title>${head}</head><body>${body}</body></html>`
const markdown = (html: string) => [...htmlToMarkdown(html, url)].at(-1)?.text
const read = (content: string | Uint8Array, contentType: string, limits?: Parameters<typeof readablePage>[1]) =>
  Effect.runPromise(readablePage({ bytes: Buffer.from(content), contentType, url }, limits))

/** A PDF of one page for each text, as small as they come. */
const pdf = (...texts: ReadonlyArray<string>) => {
  const kids = texts.map((_, index) => `${4 + 2 * index} 0 R`).join(" ")
  const objects = [
    "<</Type/Catalog/Pages 2 0 R>>",
    `<</Type/Pages/Kids[${kids}]/Count ${texts.length}>>`,
    "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ...texts.flatMap((text, index) => {
      const content = `BT /F1 12 Tf 20 100 Td (${text}) Tj ET`
      return [
        `<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]/Resources<</Font<</F1 3 0 R>>>>/Contents ${5 + 2 * index} 0 R>>`,
        `<</Length ${content.length}>>\nstream\n${content}\nendstream`
      ]
    })
  ]
  let document = "%PDF-1.4\n"
  const offsets = objects.map((object, index) => {
    const offset = document.length
    document += `${index + 1} 0 obj\n${object}\nendobj\n`
    return `${String(offset).padStart(10, "0")} 00000 n \n`
  })
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${offsets.join("")}`
  const trailer = `trailer\n<</Root 1 0 R/Size ${objects.length + 1}>>\nstartxref\n${document.length}\n%%EOF\n`
  return `${document}${table}${trailer}`
}

describe("a page", () => {
  it("becomes its main content, with headings, absolute links, tables and code", () => {
    const html = page(
      `<header>SITE</header><nav><a href="/">Home</a></nav><div class="sidebar"><a href="/ad">Advertisement</a></div>
       <article><h1>The article</h1>${paragraph}<p>${sentence}<a href="other.html?a=1&amp;b=2">a link</a>, <a href="/top">top</a></p>
       <pre><code class="language-js">if (a &lt; b) {\n  run()\n}</code></pre>
       <table><thead><tr><th>name</th><th>value</th></tr></thead><tbody><tr><td>a|b</td><td>1</td></tr></tbody></table>
       <ul><li>one<ul><li>two</li></ul></li></ul>${paragraph}</article><footer>Imprint</footer><script>alert(1)</script>`
    )
    const text = sentence.repeat(5).trim()
    expect(markdown(html)).toBe(
      [
        "# A page & more",
        "## The article",
        text,
        `${sentence}[a link](https://site.test/docs/other.html?a=1&b=2), [top](https://site.test/top)`,
        "```js\nif (a < b) {\n  run()\n}\n```",
        "| name | value |\n| --- | --- |\n| a\\|b | 1 |",
        "- one\n  - two",
        text
      ].join("\n\n")
    )
  })

  it("that is a listing is shown whole, without its furniture", () => {
    const links = Array.from({ length: 40 }, (_, index) => `<li><a href="/item/${index}">Item ${index}</a></li>`).join(
      ""
    )
    const shown = markdown(page(`<nav>menu</nav><ul>${links}</ul><form><button>Send</button></form>`))
    expect(shown).toContain("- [Item 39](https://site.test/item/39)")
    expect(shown).not.toMatch(/menu|Send/)
  })

  it("resolves links by its own base, and drops those that run scripts", () => {
    const shown = markdown(
      page(
        `<p><a href="x">x</a> <a href="javascript:alert(1)">run</a> <a href="http://[">bad</a> <img src="data:image/png;base64,AA" alt="dot"></p>`,
        '<base href="/other/">'
      )
    )
    expect(shown).toContain("[x](https://site.test/other/x)")
    expect(shown).not.toMatch(/javascript|data:|\[bad\]/)
  })

  it.each([
    ["empty", "", /^$/],
    ["a fragment", "<p>Only <b>this</b></p>", /^Only \*\*this\*\*$/],
    ["broken markup", "<p>one<div>two</p><b>three", /one[^]*two[^]*three/],
    ["nothing but a title and a text", "<title>t</title><p>hello", /^(?:# t\n\n)?hello$/],
    ["text alone", "just text", /^just text$/]
  ])("that is %s is read all the same", (_name, html, expected) => {
    expect(markdown(html)).toMatch(expected)
  })

  it("is read in a thread, with its title", async () => {
    expect(await read(page(`<main>${paragraph}${paragraph}</main>`), "text/html")).toEqual({
      title: "A page & more",
      text: `# A page & more\n\n${sentence.repeat(5).trim()}\n\n${sentence.repeat(5).trim()}`,
      isCut: false
    })
  })

  it("that takes too long to read is shown whole instead", async () => {
    const limits = { timeoutMs: 60_000, patienceMs: 1 }
    const { text } = await read(`${"<div>".repeat(20_000)}${paragraph}`, "text/html", limits)
    expect(text).toContain(sentence.trim())
  })

  it("that is longer than any article is shown whole", () => {
    const long = (script: string) => page(`<header>SITE</header>${script}<article>${paragraph.repeat(2)}</article>`)
    expect([...htmlToMarkdown(long(`<script>${"x".repeat(400_000)}</script>`), url)]).toHaveLength(2)
    expect([...htmlToMarkdown(long(paragraph.repeat(1000)), url)]).toHaveLength(1)
  })

  it("that takes all memory or no time at all is named", async () => {
    const html = page("<b>x</b>".repeat(200_000))
    expect((await read(html, "text/html", { memoryMb: 8 })).text).toBe(`[text/html, ${html.length} bytes, not shown]`)
    expect((await read(html, "text/html", { timeoutMs: 1 })).text).toBe(`[text/html, ${html.length} bytes, not shown]`)
  })

  it("that is very long is cut before it is read", async () => {
    const { isCut } = await read("word ".repeat(500_000), "text/html", { timeoutMs: 1 })
    expect(isCut).toBe(true)
  })

  it("whose call is cancelled fails instead of being parsed", async () => {
    const controller = new AbortController()
    const reading = Effect.runPromiseExit(
      readablePage({ bytes: Buffer.from("<div>".repeat(20_000)), contentType: "text/html", url }),
      {
        signal: controller.signal
      }
    )
    controller.abort()
    expect((await reading)._tag).toBe("Failure")
  })
})

describe("a PDF", () => {
  it("becomes the text of its pages", async () => {
    const document = pdf("Hello PDF", "Second page")
    const readings = []
    for await (const { text } of pdfText(Buffer.from(document))) readings.push(text)
    expect(readings).toEqual(["Hello PDF\n\nSecond page"])
    expect(await read(document, "application/pdf")).toEqual({
      title: undefined,
      text: "Hello PDF\n\nSecond page",
      isCut: false
    })
    expect((await read(document, "application/octet-stream")).text).toBe("Hello PDF\n\nSecond page")
  })

  it("has a title if it says so, and grows by its pages", async () => {
    const document = pdf(...Array.from({ length: 21 }, (_, index) => `Page ${index + 1}`)).replace(
      "<</Root 1 0 R",
      "<</Info <</Title (On haft)>>/Root 1 0 R"
    )
    const readings = []
    for await (const { title, isCut } of pdfText(Buffer.from(document))) readings.push([title, isCut])
    expect(readings).toEqual([
      ["On haft", true],
      ["On haft", false]
    ])
  })

  it("that unpacks to more memory than it may have is named", async () => {
    const content = deflateSync(Buffer.concat([Buffer.alloc(150_000_000, " "), Buffer.from("BT (Hello) Tj ET")]))
    const [before = "", after = ""] = pdf("?").split(/<<\/Length \d+>>\nstream\n[^\n]*/)
    const document = Buffer.concat([
      Buffer.from(`${before}<</Length ${content.length}/Filter/FlateDecode>>\nstream\n`),
      content,
      Buffer.from(after)
    ])
    const { text } = await read(document, "application/pdf", { timeoutMs: 60_000 })
    expect(text).toBe(`[application/pdf, ${document.length} bytes, not shown]`)
  })

  it("that is none is named", async () => {
    expect((await read("nonsense", "application/pdf")).text).toBe("[application/pdf, 8 bytes, not shown]")
  })
})

describe("anything else", () => {
  it.each([
    ["JSON", '{"a":[1,2]}', "application/json", '{\n  "a": [\n    1,\n    2\n  ]\n}'],
    ["JSON of a kind", '{"a":1}', "application/problem+json; charset=utf-8", '{\n  "a": 1\n}'],
    ["JSON that is none", '{"a":', "application/json", '{"a":'],
    ["plain text", "<b>as it is</b>\n", "text/plain", "<b>as it is</b>\n"],
    ["Markdown", "# Title\n", "text/markdown", "# Title\n"],
    ["XML", "<a/>", "application/atom+xml", "<a/>"],
    ["a script", "let a", "application/javascript", "let a"],
    ["a picture", "\x89PNG", "image/png", "[image/png, 5 bytes, not shown]"],
    ["text full of zeros", "a\0b", "text/plain", "[text/plain, 3 bytes, not shown]"],
    ["a page of zeros", "\0\0", "text/html", "[text/html, 2 bytes, not shown]"],
    ["an archive", "PK\x03\x04", "application/zip", "[application/zip, 4 bytes, not shown]"],
    ["text without a type", "hello", "", "hello"],
    ["bytes without a type", "\0\x01", "", "[unknown type, 2 bytes, not shown]"]
  ])("such as %s is shown as it should be", async (_name, content, type, expected) => {
    expect((await read(content, type)).text).toBe(expected)
  })

  it("in UTF-16 is text in spite of its zeros", async () => {
    expect((await read(Buffer.from("\uFEFFhi", "utf16le"), "text/plain")).text).toBe("hi")
  })

  it("without a type is looked at", async () => {
    expect((await read("<!DOCTYPE html><p>hi", "")).text).toBe("hi")
  })

  it("raw is what the server sent, if that is text", () => {
    expect(rawText({ bytes: Buffer.from("<p>hi"), contentType: "text/html", url })).toBe("<p>hi")
    expect(rawText({ bytes: Buffer.from("x"), contentType: "image/gif", url })).toBe("[image/gif, 1 bytes, not shown]")
  })
})
