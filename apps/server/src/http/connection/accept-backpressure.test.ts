import { EventEmitter } from "node:events"
import { setImmediate as nextTurn } from "node:timers/promises"

import { describe, expect, it } from "vitest"

import { arrivalsAt } from "./accept-backpressure.ts"

const call = () => new AbortController()

describe("calls and connections that arrive", () => {
  it("do not wait for each other while nobody arrives", async () => {
    const server = new EventEmitter()
    const arrivals = arrivalsAt(server)
    expect(arrivals.turn(call())).toBe(undefined)
    server.emit("connection")
    await arrivals.turn(call())
    await nextTurn()
    await nextTurn()
    expect(arrivals.turn(call())).toBe(undefined)
  })

  it("come in one after the other, and calls begin when no more of them come", async () => {
    const server = new EventEmitter()
    const arrivals = arrivalsAt(server)
    const seen: Array<string> = []
    server.emit("connection")
    const calls = ["one", "two"].map(async (name) => {
      await arrivals.turn(call())
      seen.push(name)
    })
    for (let turn = 0; turn < 5; turn++) {
      await nextTurn()
      server.emit("connection")
      seen.push("connection")
    }
    await Promise.all(calls)
    expect(seen).toEqual([...Array.from({ length: 5 }, () => "connection"), "one", "two"])
  })

  it("do not wait for calls whose clients have left", async () => {
    const server = new EventEmitter()
    const arrivals = arrivalsAt(server)
    server.emit("connection")
    const left = Array.from({ length: 1000 }, call)
    const begun = async (one: AbortController): Promise<string> => {
      await arrivals.turn(one)
      return "begun"
    }
    const turns = left.map(begun)
    const last = begun(call())
    for (const one of left) one.abort()
    let outcome: unknown
    let turn = 0
    for (; outcome === undefined; turn++) outcome = await Promise.race([last, nextTurn()])
    await Promise.all(turns)
    expect(turn).toBeLessThan(10)
  })
})
