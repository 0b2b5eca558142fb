const maximumComplaints = 64 * 1024
const complaintAboutFile = /\(os error (\d+)\)$/u
/** ENOENT, which says that a file has vanished meanwhile. */
const vanished = "2"

/** Messages of ripgrep on standard error: about files it could not read, or about the call as a whole. */
export class Complaints {
  unreadable = 0
  #isAboutFiles = false
  #text = ""
  #pending = ""
  readonly #decoder = new TextDecoder()

  push(chunk: Uint8Array): void {
    const lines = (this.#pending + this.#decoder.decode(chunk, { stream: true })).split("\n")
    this.#pending = (lines.pop() ?? "").slice(-maximumComplaints)
    for (const line of lines) this.#take(line)
  }

  /**
   * Why ripgrep did not search at all. That is the first thing it says: once it has complained about a file it is
   * searching, and a line of another shape is part of a name with a line break in it.
   */
  get fatal(): string | undefined {
    const text = (this.#text + this.#pending).trim()
    return this.#isAboutFiles || text === "" ? undefined : text.replace(/^rg: /u, "")
  }

  get isAboutMemory(): boolean {
    return /^memory allocation of \d+ bytes failed/mu.test(this.#text + this.#pending)
  }

  #take(line: string): void {
    const error = complaintAboutFile.exec(line)
    if (error === null) {
      if (this.#text.length < maximumComplaints) this.#text += `${line}\n`
      return
    }
    this.#isAboutFiles = true
    if (error[1] !== vanished) this.unreadable++
  }
}
