import { lookup, Resolver } from "node:dns/promises"

/**
 * Resolves names by asking the name servers directly. The system's own resolver holds a thread of Node's pool for each
 * name until it gives up, so a few names whose servers are dead would hold up every other lookup and every file. It is
 * asked only for what the servers don't know: names of the hosts file and of the local network.
 */
export const nameResolver = ({
  servers,
  timeoutMs = 3_000
}: { readonly servers?: ReadonlyArray<string>; readonly timeoutMs?: number } = {}): ((
  hostname: string
) => Promise<ReadonlyArray<string>>) => {
  const resolver = new Resolver({ timeout: timeoutMs, tries: 2 })
  if (servers !== undefined) resolver.setServers(servers)
  return async (hostname) => {
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
    const found = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []))
    if (found.length > 0) return found
    const late = answers.find((answer) => answer.status === "rejected" && codeOf(answer.reason) === "ETIMEOUT")
    if (late?.status === "rejected") throw late.reason
    return (await lookup(hostname, { all: true, order: "verbatim" })).map(({ address }) => address)
  }
}

const codeOf = (error: unknown): unknown =>
  typeof error === "object" && error !== null && "code" in error ? error.code : undefined
