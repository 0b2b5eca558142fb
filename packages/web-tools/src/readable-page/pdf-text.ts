import { extractText, getDocumentProxy } from "unpdf"

const maxPages = 500

/** The text of a PDF, page after page; undefined when it can't be read. */
export const pdfText = async (bytes: Uint8Array): Promise<string | undefined> => {
  try {
    // A copy: the reader takes the buffer away from its owner.
    const document = await getDocumentProxy(new Uint8Array(bytes))
    if (document.numPages > maxPages) return undefined
    const { text } = await extractText(document, { mergePages: false })
    return text.map((page) => page.trim()).join("\n\n")
  } catch {
    return undefined
  }
}
