import { createHmac, randomUUID } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"

import { ConfigError, type OpenRequest, type WebhookConfig } from "haft/internal"

import type { Workspaces } from "../workspaces.ts"

export interface WebhookOptions extends WebhookConfig {
  readonly secret: string
  /** Delays before further attempts, in milliseconds. */
  readonly retryMs?: ReadonlyArray<number>
}

/** Sender of signed messages about requests that wait for a person. */
export interface Webhook {
  /** Announces the requests of these workspaces, and how they end. */
  readonly follow: (workspaces: Workspaces, linkOf: (address: string) => string, events: WebhookEvents) => void
  /** Abandons the messages that are not delivered yet. */
  readonly close: () => void
}

/** Listeners of a webhook's deliveries. */
export interface WebhookEvents {
  readonly onDelivered: () => void
  /** Called with a message that was given up after the last attempt. */
  readonly onFailed: (error: Error) => void
}

/** Messages that may be on their way at once. Beyond that they fail: the receiver is down, and the inbox has them. */
const mostPending = 1_000
const timeoutMs = 10_000
const standardRetries = [1_000, 5_000, 30_000]

/**
 * A webhook in the form of Standard Webhooks: `webhook-id`, `webhook-timestamp`, and in `webhook-signature` the
 * HMAC-SHA256 of `id.timestamp.body`. A message has one id in all attempts, so that a receiver can drop duplicates.
 */
export const openWebhook = ({ url, secret, retryMs = standardRetries }: WebhookOptions): Webhook => {
  const key = keyOf(secret)
  const over = new AbortController()
  let pending = 0

  const attempt = async (id: string, body: string): Promise<void> => {
    const headers = { "content-type": "application/json", ...signatureOf(key, id, body) }
    const signal = AbortSignal.any([over.signal, AbortSignal.timeout(timeoutMs)])
    // A redirect could lead the message anywhere.
    const response = await fetch(url, { method: "POST", headers, body, signal, redirect: "error" })
    await response.body?.cancel()
    if (!response.ok) throw new Error(`it answered ${response.status}`)
  }
  const deliver = async (body: string, { onDelivered, onFailed }: WebhookEvents): Promise<void> => {
    const id = `msg_${randomUUID()}`
    for (const wait of [...retryMs, undefined]) {
      try {
        await attempt(id, body)
        return onDelivered()
      } catch (error) {
        if (over.signal.aborted) return
        if (wait === undefined) return onFailed(failure(url, error))
        await sleep(wait, undefined, { signal: over.signal, ref: false }).catch(() => undefined)
      }
    }
  }
  const send = async (message: object, events: WebhookEvents, after?: Promise<void>): Promise<void> => {
    if (pending >= mostPending) return events.onFailed(failure(url, `${pending} messages wait to be delivered`))
    pending++
    await after
    await deliver(JSON.stringify(message), events)
    pending--
  }
  return {
    follow: (workspaces, linkOf, events) => {
      workspaces.onOpened((workspace, { run, approvals }) => {
        const open = new Map<string, { readonly request: OpenRequest; readonly sent: Promise<void> }>()
        const about = (request: OpenRequest): object => ({
          ...summaryOf(request),
          workspace,
          link: linkOf(`/#/${encodeURIComponent(workspace)}/approvals/${encodeURIComponent(`${run}.${request.step}`)}`)
        })
        approvals.subscribe((change) => {
          if (change.type === "opened") {
            const { request } = change
            const timestamp = new Date(request.askedAt).toISOString()
            const sent = send({ type: "approval.requested", timestamp, data: about(request) }, events)
            open.set(request.id, { request, sent })
            return
          }
          const { id, approved, unanswered, by, at } = change
          const asked = open.get(id)
          open.delete(id)
          if (asked === undefined) return
          const data = {
            ...about(asked.request),
            outcome: unanswered === true ? "unanswered" : approved ? "approved" : "denied",
            ...(by !== undefined && { by: by.name })
          }
          // A receiver hears of the end after the beginning.
          void send({ type: "approval.closed", timestamp: new Date(at).toISOString(), data }, events, asked.sent)
        })
      })
    },
    close: () => over.abort()
  }
}

/** A request without arguments, paths and diff: they stay on the server, for whoever follows the link and signs in. */
const summaryOf = ({ id, step, tool, caller, description, expiresAt }: OpenRequest): object => ({
  id,
  step,
  tool,
  ...(caller !== undefined && { agent: caller.name }),
  severity: description.severity.level,
  files: description.filesAffected.length,
  ...(expiresAt !== undefined && { expires: new Date(expiresAt).toISOString() })
})

const keyOf = (secret: string): Buffer => {
  const text = /^whsec_([A-Za-z\d+/]+={0,2})$/.exec(secret)?.[1] ?? ""
  const key = Buffer.from(text, "base64")
  if (key.length >= 24 && key.length <= 64) return key
  throw new ConfigError(
    "the secret of the webhook is `whsec_` and 24 to 64 random bytes in base64. Make one with: " +
      'echo "whsec_$(openssl rand -base64 32)"'
  )
}

const signatureOf = (key: Buffer, id: string, body: string): Readonly<Record<string, string>> => {
  const timestamp = String(Math.floor(Date.now() / 1_000))
  const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64")
  return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": `v1,${signature}` }
}

// Without the path of the address, which is a secret with some receivers.
const failure = (url: string, cause: unknown): Error => {
  const { cause: inner } = cause instanceof Error ? cause : {}
  const why = inner ?? cause
  const text = why instanceof Error ? why.message : String(why)
  return new Error(`a message to the webhook at ${new URL(url).origin} was not delivered: ${text}`)
}
