import { parentPort, workerData } from "node:worker_threads"

import type { PageJob } from "./read-apart.ts"

// A thread of its own: pages are hostile, and neither time nor memory of the host is theirs to take.
const read = async (job: PageJob): Promise<void> => {
  const readings =
    job.kind === "html"
      ? (await import("./html-to-markdown.ts")).htmlToMarkdown(job.html, job.url)
      : (await import("./pdf-text.ts")).pdfText(job.bytes)
  for await (const reading of readings) {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    parentPort?.postMessage(reading)
  }
}

void read(workerData as PageJob)
