import { ConfigError, tokenRoles, type Tokens } from "haft/internal"
import * as z from "zod"

import { json } from "../http/answer.ts"
import { Problem } from "../http/problem.ts"
import { defineRoute, type HttpRoute } from "../http/route.ts"

const Token = z.object({
  id: z.string(),
  name: z.string(),
  role: z.enum(tokenRoles),
  workspaces: z.array(z.string()).optional().describe("All when absent."),
  created: z.string(),
  expires: z.string().optional(),
  revoked: z.string().optional()
})

/** The server's tokens. Only an admin sees, makes and revokes them. */
export const tokenRoutes = (tokens: Tokens): ReadonlyArray<HttpRoute> => [
  defineRoute({
    method: "GET",
    path: "/v1/tokens",
    summary: "The tokens of this server, without their secrets",
    access: "admin",
    replies: {
      200: { description: "Tokens in the order they were made", schema: z.object({ tokens: z.array(Token) }) }
    },
    handle: async () => json({ tokens: await tokens.list() })
  }),
  defineRoute({
    method: "POST",
    path: "/v1/tokens",
    summary: "Makes a token",
    access: "admin",
    body: z.strictObject({
      name: z.string(),
      role: z.enum(tokenRoles),
      workspaces: z.array(z.string()).optional(),
      expires: z.iso.datetime({ offset: true }).optional()
    }),
    replies: {
      200: { description: "The secret is shown this once", schema: z.object({ secret: z.string(), token: Token }) }
    },
    handle: async ({ body: { name, role, workspaces, expires } }) => {
      const wanted = { name, role, ...(workspaces && { workspaces }), ...(expires !== undefined && { expires }) }
      const made = await tokens.create(wanted).catch((error: unknown) => {
        throw error instanceof ConfigError ? new Problem(400, "invalid_token", error.message) : error
      })
      return json(made)
    }
  }),
  defineRoute({
    method: "DELETE",
    path: "/v1/tokens/{name}",
    summary: "Revokes a token, by its name or id",
    access: "admin",
    replies: { 200: { description: "Done", schema: z.object({ revoked: z.literal(true) }) } },
    handle: async ({ path }) => {
      if (await tokens.revoke(path["name"] ?? "")) return json({ revoked: true })
      throw new Problem(404, "unknown_token", "There is no such token in force.")
    }
  })
]
