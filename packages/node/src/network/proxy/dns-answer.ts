import { canonicalHost } from "@haft/core/internal"

/** Seconds that a program may keep an answer; the address stands for the name as long as the sandbox lives. */
const timeToLive = 60

const response = 0x8000
const recursionDesired = 0x0100
const recursionAvailable = 0x0080
const codes = { found: 0, failed: 2, absent: 3, notImplemented: 4 } as const
const typeA = 1
const classInternet = 1

/** Answers a DNS query with the address that `addressOf` gives; undefined for what is no query. */
export const answerQuery = (query: Buffer, addressOf: (name: string) => string | undefined): Buffer | undefined => {
  if (query.length < 12 || query.length > 512) return undefined
  const flags = query.readUInt16BE(2)
  if ((flags & response) !== 0) return undefined
  const question = readQuestion(query)
  const reply = (code: number, answer: Buffer = Buffer.alloc(0)): Buffer => {
    const header = Buffer.from(query.subarray(0, 12))
    header.writeUInt16BE(response | recursionAvailable | (flags & recursionDesired) | code, 2)
    header.writeUInt16BE(question === undefined ? 0 : 1, 4)
    header.writeUInt16BE(answer.length === 0 ? 0 : 1, 6)
    header.writeUInt32BE(0, 8)
    return Buffer.concat([header, query.subarray(12, question?.end ?? 12), answer])
  }
  if (question === undefined || (flags & 0x7800) !== 0) return reply(codes.notImplemented)
  const name = canonicalHost(question.name)
  if (question.class !== classInternet || name === undefined || name.endsWith(".arpa")) return reply(codes.absent)
  if (question.type !== typeA) return reply(codes.found)
  const address = name === "localhost" ? "127.0.0.1" : addressOf(name)
  if (address === undefined) return reply(codes.failed)
  const answer = Buffer.alloc(16)
  answer.writeUInt16BE(0xc00c, 0)
  answer.writeUInt16BE(typeA, 2)
  answer.writeUInt16BE(classInternet, 4)
  answer.writeUInt32BE(timeToLive, 6)
  answer.writeUInt16BE(4, 10)
  address.split(".").forEach((part, at) => answer.writeUInt8(Number(part), 12 + at))
  return reply(codes.found, answer)
}

interface Question {
  readonly name: string
  readonly type: number
  readonly class: number
  readonly end: number
}

const readQuestion = (query: Buffer): Question | undefined => {
  if (query.readUInt16BE(4) !== 1) return undefined
  const labels: Array<string> = []
  let at = 12
  for (;;) {
    const length = query[at]
    // A pointer, which a question has no use for, has the two highest bits set.
    if (length === undefined || length > 63 || at + 1 + length > query.length) return undefined
    at += 1
    if (length === 0) break
    labels.push(query.toString("latin1", at, at + length))
    at += length
  }
  if (at + 4 > query.length) return undefined
  return { name: labels.join("."), type: query.readUInt16BE(at), class: query.readUInt16BE(at + 2), end: at + 4 }
}
