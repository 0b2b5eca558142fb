import * as z from "zod"

/** The setting `cluster` of a configuration, and what flags and the environment add to it. */
export interface ClusterConfig {
  /** The database that all members share: `postgres://user:password@host/name`. */
  readonly database: string
  /** Where other members reach this one: `host:port`. */
  readonly address: string
  /** Shared secret of all members, at least 16 characters; HAFT_CLUSTER_SECRET when absent. */
  readonly secret?: string
  /** Where this member keeps its copies of workspaces; below the user's state directory by default. */
  readonly directory?: string
  /** A directory that all members reach, for contents over 64 KiB; the database when absent. */
  readonly blobs?: string
  /** Files in PEM, for TLS between members in which both sides present a certificate. */
  readonly tls?: { readonly cert: string; readonly key: string; readonly ca: string }
  /** Allows an address beyond this machine without TLS, where the network itself is encrypted. */
  readonly plaintext?: boolean
  /** Milliseconds that a member may be out of touch before others take its workspaces; 6,000 by default. */
  readonly leaseMs?: number
  /** Days that replies, audit logs and commits before a checkpoint are kept; 7 by default. */
  readonly retentionDays?: number
}

export const clusterShape = () =>
  z.strictObject({
    database: z
      .string()
      .regex(/^postgres(?:ql)?:\/\//, "expected postgres://user:password@host/name")
      .describe("The database that all members share, `postgres://…`"),
    address: z
      .string()
      .regex(/^(?:\[[\da-f:]+\]|[\w.-]+):\d{1,5}$/i, "expected host:port")
      .describe("Where other members reach this one, `host:port`"),
    secret: z
      .string()
      .min(16)
      .optional()
      .describe("What all members know and nobody else does; `HAFT_CLUSTER_SECRET` when absent"),
    directory: z.string().min(1).optional().describe("Where this member keeps its copies of workspaces"),
    blobs: z
      .string()
      .min(1)
      .optional()
      .describe("A directory that all members reach, for contents over 64 KiB; the database when absent"),
    tls: z
      .strictObject({ cert: z.string().min(1), key: z.string().min(1), ca: z.string().min(1) })
      .optional()
      .describe("Files in PEM for TLS between members; both sides present a certificate"),
    plaintext: z.boolean().optional().describe("Allows an address beyond this machine without TLS"),
    leaseMs: z
      .number()
      .int()
      .min(1_000)
      .max(600_000)
      .optional()
      .describe("Milliseconds that a member may be out of touch before others take its workspaces; 6,000 by default"),
    retentionDays: z
      .number()
      .int()
      .min(1)
      .optional()
      .describe("Days that replies, audit logs and commits before a checkpoint are kept; 7 by default")
  })
