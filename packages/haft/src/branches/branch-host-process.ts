// The host of a branch, in a process of its own: started in the branch's mount namespace, where the branch lies in the
// place of the workspace. It serves the process that started it, over their message channel, and ends with that.
import { type Answer, isToolError } from "@haft/core"
import type { OpenHost } from "@haft/core/promise"

import { openHost } from "../host/typed-host.ts"
import { type FromBranchHost, plainError, plainQuestion, plainReply, type ToBranchHost } from "./branch-messages.ts"

const tell = (message: FromBranchHost): void => void process.send?.(message, undefined, {}, () => {})

const failureOf = (cause: unknown) => ({
  message: cause instanceof Error ? cause.message : String(cause),
  ...(isToolError(cause) && { error: plainError(cause) })
})

const running = new Map<number, AbortController>()
const questions = new Map<number, (answer: Answer) => void>()
let asked = 0
let opening: Promise<OpenHost> | undefined

const receive = async (message: ToBranchHost): Promise<void> => {
  if (message.type === "open") {
    opening = openHost(message.config)
    return opening.then(
      ({ tools }) => tell({ type: "opened", tools }),
      (cause: unknown) => tell({ type: "refused", ...failureOf(cause) })
    )
  }
  if (message.type === "cancel") return running.get(message.id)?.abort()
  if (message.type === "answer") return questions.get(message.id)?.(message.answer)
  const { id, tool, args } = message
  try {
    const host = await opening
    if (host === undefined) throw new Error("the host is not open")
    if (message.type === "preview") return tell({ type: "previewed", id, preview: await host.preview(tool, args) })
    const abort = new AbortController()
    running.set(id, abort)
    const ask: NonNullable<Parameters<OpenHost["call"]>[2]>["ask"] = (question) =>
      new Promise((resolve) => {
        const number = ++asked
        questions.set(number, (answer) => {
          questions.delete(number)
          resolve(answer)
        })
        tell({ type: "question", id: number, call: id, question: plainQuestion(question) })
      })
    const reply = await host.call(tool, args, {
      ...message.options,
      signal: abort.signal,
      ...(message.canAsk && { ask })
    })
    return tell({ type: "reply", id, reply: plainReply(reply) })
  } catch (cause) {
    return tell({ type: "failed", id, ...failureOf(cause) })
  } finally {
    running.delete(id)
  }
}

process.on("message", (message) => void receive(message as ToBranchHost))
process.once("disconnect", () => {
  void Promise.resolve(opening)
    .then((host) => host?.dispose())
    .catch(() => {})
    .finally(() => process.exit(0))
})
