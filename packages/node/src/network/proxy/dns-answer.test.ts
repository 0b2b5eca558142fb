import { expect, it } from "vitest"

import { answerQuery } from "./dns-answer.ts"
import { StandInAddresses } from "./stand-in-addresses.ts"

const query = (name: string, type = 1, { flags = 0x0100, questions = 1 } = {}): Buffer => {
  const labels = name === "" ? [] : name.split(".")
  const header = Buffer.alloc(12)
  header.writeUInt16BE(0x1234, 0)
  header.writeUInt16BE(flags, 2)
  header.writeUInt16BE(questions, 4)
  const parts = labels.map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)]))
  const end = Buffer.alloc(5)
  end.writeUInt16BE(type, 1)
  end.writeUInt16BE(1, 3)
  return Buffer.concat([header, ...parts, end])
}

const answered = (reply: Buffer | undefined) =>
  reply === undefined
    ? undefined
    : { code: reply.readUInt16BE(2) & 15, answers: reply.readUInt16BE(6), address: [...reply.subarray(-4)].join(".") }

it("answers every name with an address of its own that leads nowhere else", () => {
  const standIns = new StandInAddresses()
  const ask = (name: string) => answered(answerQuery(query(name), (asked) => standIns.addressOf(asked)))
  expect(ask("one.example")).toEqual({ code: 0, answers: 1, address: "198.18.0.2" })
  expect(ask("ONE.example")).toEqual(ask("one.example"))
  expect(ask("two.example")).toMatchObject({ address: "198.18.0.3" })
  expect(ask("localhost")).toMatchObject({ address: "127.0.0.1" })
  expect(standIns.nameOf("198.18.0.3")).toBe("two.example")
  expect(standIns.nameOf("198.18.0.9")).toBeUndefined()
})

it("has no answer for other types, names that are none, and reverse look-ups", () => {
  const ask = (message: Buffer) => answered(answerQuery(message, () => "198.18.0.2"))
  expect(ask(query("a.example", 28))).toMatchObject({ code: 0, answers: 0 })
  expect(ask(query("a.example", 16))).toMatchObject({ code: 0, answers: 0 })
  expect(ask(query("1.0.0.127.in-addr.arpa", 12))).toMatchObject({ code: 3 })
  expect(ask(query("-bad-.example"))).toMatchObject({ code: 3 })
  expect(ask(query("a.example", 1, { questions: 2 }))).toMatchObject({ code: 4 })
  expect(ask(query("a.example", 1, { flags: 0x2800 }))).toMatchObject({ code: 4 })
  expect(answerQuery(query("a.example", 1, { flags: 0x8000 }), () => "")).toBeUndefined()
  expect(answerQuery(Buffer.alloc(5), () => "")).toBeUndefined()
  expect(answered(answerQuery(query("full.example"), () => undefined))).toMatchObject({ code: 2 })
})

it("refuses questions that are cut short or point elsewhere", () => {
  for (const tail of [
    [63, 1],
    [0xc0, 12, 0, 1, 0, 1],
    [1, 97, 0, 0]
  ]) {
    const message = Buffer.concat([query("").subarray(0, 12), Buffer.from(tail)])
    expect(answered(answerQuery(message, () => "198.18.0.2"))).toMatchObject({ code: 4 })
  }
})

it("gives each of 131,068 names an address and no more", () => {
  const standIns = new StandInAddresses()
  let last: string | undefined
  for (let number = 0; number < 2 ** 17 - 4; number++) last = standIns.addressOf(`n${number}`)
  expect(last).toBe("198.19.255.253")
  expect(standIns.addressOf("one more")).toBeUndefined()
  expect(standIns.addressOf("n0")).toBe("198.18.0.2")
})
