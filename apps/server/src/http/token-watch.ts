/** How often it is checked that the token of a request is still in force. */
const checkMs = 1_000

/** Watches over the token of a request that takes its time: a call, a stream of events, a question that waits. */
export interface TokenWatch {
  /** Cuts the request where its token is not in force any more, and says whether it is. */
  readonly isAllowed: () => Promise<boolean>
  readonly stop: () => void
}

/** Calls `cut` once, within a second after a token was revoked or has expired. What can't be checked is cut, too. */
export const watchToken = (isInForce: () => Promise<boolean>, cut: () => void): TokenWatch => {
  let isOver = false
  const stop = (): void => {
    isOver = true
    clearInterval(timer)
  }
  const isAllowed = async (): Promise<boolean> => {
    if (await isInForce().catch(() => false)) return true
    if (!isOver) cut()
    stop()
    return false
  }
  const timer = setInterval(() => void isAllowed(), checkMs).unref()
  return { isAllowed, stop }
}

/** A stream that asks before it sends anything, and calls `onEnd` once it has ended or was canceled. */
export const watchedStream = (
  stream: ReadableStream<Uint8Array>,
  isAllowed: () => Promise<boolean>,
  onEnd: () => void
): ReadableStream<Uint8Array> => {
  const reader = stream.getReader()
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        const { value } = await reader.read()
        if (value !== undefined && (await isAllowed())) return controller.enqueue(value)
        controller.close()
        if (value !== undefined) await reader.cancel()
      } catch (error) {
        controller.error(error)
      }
      onEnd()
    },
    cancel: async (reason) => {
      onEnd()
      await reader.cancel(reason)
    }
  })
}
