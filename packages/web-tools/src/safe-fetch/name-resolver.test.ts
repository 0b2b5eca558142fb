import { createSocket } from "node:dgram"
import { once } from "node:events"
import { readFile } from "node:fs/promises"

import { expect, it } from "@effect/vitest"

import { nameResolver } from "./name-resolver.ts"

/** A name server that knows one name and never answers about others. */
const nameServer = async (known: string, address: string) => {
  const socket = createSocket("udp4")
  socket.on("message", (query, { port, address: from }) => {
    const end = query.indexOf(0, 12)
    const name = query
      .subarray(12, end)
      .toString("latin1")
      .replaceAll(/[^\w-]/g, ".")
      .slice(1)
    if (name !== known) return
    const isA = query.readUInt16BE(end + 1) === 1
    const header = Buffer.concat([query.subarray(0, 2), Buffer.from([0x81, 0x80, 0, 1, 0, isA ? 1 : 0, 0, 0, 0, 0])])
    const question = query.subarray(12, end + 5)
    const answer = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...address.split(".").map(Number)])
    socket.send(Buffer.concat([header, question, ...(isA ? [answer] : [])]), port, from)
  })
  socket.bind(0, "127.0.0.1")
  await once(socket, "listening")
  return { server: `127.0.0.1:${socket.address().port}`, [Symbol.dispose]: () => void socket.close() }
}

it("names whose servers are dead hold up neither other names nor files", async () => {
  using server = await nameServer("good.test", "192.0.2.7")
  const resolve = nameResolver({ servers: [server.server], timeoutMs: 2_000 })
  let settled = 0
  const dead = Array.from({ length: 50 }, (_, n) =>
    resolve(`dead-${n}.test`).then(
      () => Promise.reject(new Error("it was resolved")),
      (error: unknown) => {
        settled++
        return error
      }
    )
  )
  expect(await resolve("good.test")).toEqual(["192.0.2.7"])
  await readFile(import.meta.filename)
  expect(settled).toBe(0)
  for (const error of await Promise.all(dead)) expect(error).toMatchObject({ code: "ETIMEOUT" })
}, 30_000)

it("names that the servers don't know are looked up on this machine", async () => {
  const resolve = nameResolver({ servers: ["127.0.0.1:1"], timeoutMs: 500 })
  expect(["127.0.0.1", "::1"]).toContain((await resolve("localhost"))[0])
})
