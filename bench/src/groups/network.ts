import type { Contender, Group } from "../benchmark.ts"
import { expectSame } from "../expect.ts"
import { type NetworkClient, openNetworkClients } from "../network-clients.ts"

/** Requests of a sandboxed command through haft's proxy beside those of a program on the host, over loopback. */
export const benchmarks: Group = async function* () {
  const { direct, proxied, runTrue, close } = await openNetworkClients()
  const contenders = (kind: "new" | "kept" | number, answer: string): ReadonlyArray<Contender> => {
    const by = ({ request }: NetworkClient) => ({ run: () => request(kind), check: expectSame(answer) })
    return [
      { name: "direct", kind: "limit", ...by(direct) },
      { name: "from a sandbox, through haft", kind: "haft", ...by(proxied) }
    ]
  }
  const floor = "direct"
  yield { group: "network", name: "request on a new connection", floor, contenders: contenders("new", "ok") }
  yield { group: "network", name: "request on a kept connection", floor, contenders: contenders("kept", "ok") }
  yield { group: "network", name: "200 connections at once", floor, contenders: contenders(200, "200") }
  const started = (network: boolean) => ({ run: () => runTrue(network), check: expectSame(0) })
  yield {
    group: "network",
    name: "start of a command",
    floor: "without network",
    contenders: [
      { name: "without network", kind: "limit", ...started(false) },
      { name: "with network by host", kind: "haft", ...started(true) }
    ]
  }
  await close()
}
