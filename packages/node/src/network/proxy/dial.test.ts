import { createServer } from "node:http"
import { type AddressInfo } from "node:net"

import { expect, it } from "vitest"

import { dial } from "./dial.ts"

it.each([
  ["one of this machine", ["93.184.215.14"], ["93.184.215.14"]],
  ["one of this machine among others", ["1.1.1.1", "2606:2800:21f::1"], ["2606:2800:21f::1"]],
  ["a private one among public ones", ["1.1.1.1", "10.0.0.1"], []]
])("does not connect to a name with a public address that is %s", async (_, found, own) => {
  const resolve = async () => found
  const dialed = dial({ host: "a.test", port: 443 }, { mayBePrivate: false }, resolve, () => own)
  await expect(dialed).rejects.toThrow("a.test resolves to an address that is not public")
})

it("looks a name up once, so that another answer changes nothing", async () => {
  await using server = createServer((_request, response) => response.end())
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  const answers = [["127.0.0.1"], ["10.0.0.1"]]
  let asked = 0
  const resolve = async () => answers[asked++] ?? []
  const socket = await dial({ host: "a.test", port }, { mayBePrivate: true }, resolve)
  expect([asked, socket.remoteAddress]).toEqual([1, "127.0.0.1"])
  socket.destroy()
})
