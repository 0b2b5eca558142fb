import { type HttpAnswer, json } from "./answer.ts"

/** A request that is refused: a status, a stable code, and words that say what is wrong and what to do. */
export class Problem extends Error {
  readonly status: number
  readonly code: string
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, code: string, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message)
    this.status = status
    this.code = code
    this.headers = headers
  }

  toAnswer(): HttpAnswer {
    return json({ error: { code: this.code, message: this.message } }, { status: this.status, headers: this.headers })
  }
}

/** The answer when there is a bug: clients are told that, but not what it is. */
export const ownFault = new Problem(500, "internal_error", "The server failed because of a bug; its log has the cause.")
