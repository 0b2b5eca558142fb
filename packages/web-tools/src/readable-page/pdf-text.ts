import { getDocumentProxy } from "unpdf"

import type { ReadablePage } from "./readable-page.ts"

const pagesAtOnce = 20

/** The text of a PDF, growing as its pages are read. */
export async function* pdfText(bytes: Uint8Array): AsyncGenerator<ReadablePage> {
  const document = await getDocumentProxy(new Uint8Array(bytes), { verbosity: 0 })
  const title = titleIn((await document.getMetadata()).info)
  const pages: Array<string> = []
  for (let number = 1; number <= document.numPages; number++) {
    const page = await document.getPage(number)
    const { items } = await page.getTextContent()
    const texts = items.map((item) => ("str" in item ? `${item.str}${item.hasEOL ? "\n" : ""}` : ""))
    pages.push(texts.join("").trim())
    const isCut = number < document.numPages
    if (number % pagesAtOnce === 0 || !isCut) yield { title, text: pages.join("\n\n"), isCut }
  }
}

const titleIn = (info: object): string | undefined =>
  "Title" in info && typeof info.Title === "string" && info.Title.trim() !== "" ? info.Title.trim() : undefined
