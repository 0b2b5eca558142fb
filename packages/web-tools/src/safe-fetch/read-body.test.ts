import { once } from "node:events"
import { Readable } from "node:stream"
import { Worker } from "node:worker_threads"

import { expect, it } from "vitest"

import { readBody } from "./read-body.ts"

it("puts pieces of any size together, and stops at the limit", async () => {
  const pieces = [1, 70_000, 3, 0, 200_000].map((length, index) => Buffer.alloc(length, index))
  const whole = Buffer.concat(pieces)
  const read = (maxBytes: number) => readBody(Readable.from(pieces), [], maxBytes)
  expect(await read(300_000)).toEqual({ bytes: new Uint8Array(whole), truncated: false })
  expect(await read(whole.length)).toEqual({ bytes: new Uint8Array(whole), truncated: false })
  for (const limit of [whole.length - 1, 70_002, 1, 0]) {
    expect(await read(limit)).toEqual({ bytes: new Uint8Array(whole.subarray(0, limit)), truncated: true })
  }
})

// A server can send every byte as a chunk of its own.
it("takes little memory for a body in the smallest pieces", async () => {
  const module = JSON.stringify(new URL("read-body.ts", import.meta.url).href)
  const code = `
    const { Readable } = require("node:stream"), { parentPort } = require("node:worker_threads")
    let left = 1_000_000
    const pushSome = (body) => {
      for (let count = 0; count < 1000; count++) body.push(Buffer.alloc(1))
      left -= 1000
      if (left === 0) body.push(null)
      else setImmediate(pushSome, body)
    }
    const body = new Readable({ read: () => {} })
    setImmediate(pushSome, body)
    import(${module}).then(({ readBody }) => readBody(body, [], 5_000_000)).then(({ bytes }) => parentPort.postMessage(bytes.length))`
  const worker = new Worker(code, { eval: true, execArgv: [], resourceLimits: { maxOldGenerationSizeMb: 48 } })
  expect(await once(worker, "message")).toEqual([1_000_000])
})
