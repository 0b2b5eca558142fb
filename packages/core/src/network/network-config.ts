import * as z from "zod"

import { parseHostPattern } from "./host-pattern.ts"

const hostList = z
  .array(
    z
      .string()
      .refine(
        (text) => parseHostPattern(text) !== undefined,
        "expected a host such as example.com, *.example.com or localhost:8080, or * for any public host"
      )
  )
  .readonly()

/** Settings of the network policy. */
export const networkConfig = z.strictObject({
  allow: hostList
    .default([])
    .describe(
      "Hosts that can be reached: `example.com`, `*.example.org` (ports 80 and 443), `git.example.com:22`; private hosts need their port: `localhost:8080`"
    ),
  deny: hostList
    .default([])
    .describe("Hosts that can't be reached, on any port unless one is named; stronger than `allow`"),
  ask: z.boolean().default(true).describe("Ask a person about hosts that are not listed; false refuses them"),
  maxConnections: z
    .number()
    .int()
    .min(1)
    .max(65_535)
    .default(256)
    .describe("Connections that one command may have open at once")
})

/** Settings of the network policy, as they are written. */
export type NetworkConfig = z.input<typeof networkConfig>
