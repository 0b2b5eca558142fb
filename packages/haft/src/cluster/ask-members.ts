import type { ForwardedAnswer, ForwardedRequest, MemberTraffic } from "@haft/cluster"

/** Milliseconds that a member may take to begin its answer. */
const patienceMs = 3_000

/**
 * Sends a request to several members at once. Those that fail or take too long are left out: their workspaces are about to
 * get other owners.
 */
export const askMembers = async (
  traffic: MemberTraffic,
  addresses: ReadonlyArray<string>,
  request: Omit<ForwardedRequest, "address" | "body">
): Promise<ReadonlyArray<ForwardedAnswer>> => {
  const ask = async (address: string): Promise<ReadonlyArray<ForwardedAnswer>> => {
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(), patienceMs)
    const signal = AbortSignal.any([request.signal, late.signal])
    try {
      const answer = await traffic.forward({ ...request, address, signal, body: new Uint8Array() })
      if (answer.status === 200) return [answer]
      await answer.body.cancel()
      return []
    } catch {
      return []
    } finally {
      clearTimeout(timer)
    }
  }
  return (await Promise.all(addresses.map(ask))).flat()
}
