import { isIP } from "node:net"

import { ConfigError } from "../config/config.ts"
import type { ClusterConfig } from "./cluster-config.ts"

/** The secret of a cluster, which must be hard to guess. */
export const secretOf = ({ secret = process.env["HAFT_CLUSTER_SECRET"] ?? "" }: ClusterConfig): string => {
  if (secret.length >= 16) return secret
  throw new ConfigError(
    "a cluster needs a secret of at least 16 characters that all members share: set HAFT_CLUSTER_SECRET, " +
      "for example to the output of `openssl rand -hex 32`"
  )
}

/** Host and port of an address. Refuses one beyond this machine without TLS. */
export const listenAt = ({
  address,
  tls,
  plaintext = false
}: ClusterConfig): { readonly host: string; readonly port: number } => {
  const [, host = "", port = ""] = /^(.*):(\d+)$/.exec(address) ?? []
  const plain = host.replaceAll(/^\[|\]$/g, "")
  const isLoopback = plain === "localhost" || plain === "::1" || (isIP(plain) === 4 && plain.startsWith("127."))
  if (!isLoopback && tls === undefined && !plaintext) {
    throw new ConfigError(
      `${address} is reachable from other machines, and traffic between members would not be encrypted: ` +
        "set cluster.tls, or cluster.plaintext where the network is encrypted already"
    )
  }
  return { host: plain, port: Number(port) }
}
