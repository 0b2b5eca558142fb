/** Text of a PDF by page, each below a line with its number. Undefined for a file that can't be read as a PDF. */
export const pdfPages = async (
  bytes: Uint8Array
): Promise<{ readonly text: string; readonly pages: number } | undefined> => {
  // On demand: loading it takes longer than most calls.
  const { getDocumentProxy } = await import("unpdf")
  try {
    const document = await getDocumentProxy(new Uint8Array(bytes), { verbosity: 0 })
    const pages: Array<string> = []
    for (let number = 1; number <= document.numPages; number++) {
      const { items } = await (await document.getPage(number)).getTextContent()
      const text = items.map((item) => ("str" in item ? `${item.str}${item.hasEOL ? "\n" : ""}` : "")).join("")
      pages.push(`--- page ${number} of ${document.numPages} ---\n${text.trim()}\n`)
    }
    return { text: pages.join("\n"), pages: document.numPages }
  } catch {
    return undefined
  }
}
