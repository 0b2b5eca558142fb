import { Worker } from "node:worker_threads"

import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"

import type { ReadablePage } from "./readable-page.ts"

/** Input of a reader thread. */
export type PageJob =
  | { readonly kind: "html"; readonly html: string; readonly url: string }
  | { readonly kind: "pdf"; readonly bytes: Uint8Array }

export interface ReadLimits {
  readonly timeoutMs?: number
  /** How long to look for a page's main content once all of it can be shown. */
  readonly patienceMs?: number
  readonly memoryMb?: number
}

/** A thread takes tens of megabytes, and a page a fraction of a second: one is read after the other. */
const turns = Semaphore.makeUnsafe(1)

/** Reads a page in a thread of its own, and takes the best it has to offer when its time or its memory is up. */
export const readApart = (job: PageJob, limits: ReadLimits = {}): Effect.Effect<ReadablePage | undefined> =>
  turns.withPermits(1)(Effect.callback<ReadablePage | undefined>((resume) => openWorker(job, limits, resume)))

const openWorker = (
  job: PageJob,
  { timeoutMs = 5000, patienceMs = 2000, memoryMb = 48 }: ReadLimits,
  resume: (result: Effect.Effect<ReadablePage | undefined>) => void
): Effect.Effect<void> => {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js"
  const worker = new Worker(new URL(`./page-worker.${extension}`, import.meta.url), {
    workerData: job,
    resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: 8 },
    env: {},
    execArgv: [],
    stdout: true,
    stderr: true
  })
  let best: ReadablePage | undefined
  const end = Effect.promise(() => worker.terminate())
  const finish = (): void => resume(Effect.as(end, best))
  const timers = [setTimeout(finish, timeoutMs)]
  // Unpacked parts of a PDF lie outside the heap, where the thread's own limit does not count them.
  const endWhenFull = async (): Promise<void> => {
    const outside = await memoryOutsideHeap(worker)
    if (outside > memoryMb * 1024 * 1024 + sizeOf(job) * 4) finish()
  }
  const watch = setInterval(() => void endWhenFull(), 20)
  const clearTimers = (): void => {
    clearInterval(watch)
    for (const timer of timers) clearTimeout(timer)
  }
  worker.on("message", (reading: ReadablePage) => {
    if (best === undefined && job.kind === "html") timers.push(setTimeout(finish, patienceMs))
    best = reading
  })
  worker.on("error", (error) => {
    clearTimers()
    // A thread that is not there is a mistake in how haft was packed, and no fault of the page.
    resume("code" in error && error.code === "ERR_MODULE_NOT_FOUND" ? Effect.die(error) : Effect.as(end, best))
  })
  worker.on("exit", () => {
    clearTimers()
    finish()
  })
  return Effect.andThen(Effect.sync(clearTimers), end)
}

const memoryOutsideHeap = async (worker: Worker): Promise<number> => {
  try {
    return (await worker.getHeapStatistics()).external_memory
  } catch {
    // It has ended meanwhile.
    return 0
  }
}

const sizeOf = (job: PageJob): number => (job.kind === "pdf" ? job.bytes.length : job.html.length)
