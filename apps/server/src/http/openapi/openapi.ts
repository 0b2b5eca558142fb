import type * as z from "zod"

import type { HttpRoute } from "../route.ts"
import { anyJson, schemaOf } from "./openapi-schema.ts"

/** The OpenAPI 3.1 document, made from the same table of routes that the router uses. */
export const openapiOf = (routes: ReadonlyArray<HttpRoute>, version: string): object => {
  const paths: Record<string, Record<string, object>> = {}
  for (const route of routes) {
    const path = route.path.replaceAll("…", "")
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route) }
  }
  return {
    openapi: "3.1.0",
    info: { title: "haft", version, description: "Tools for AI agents: calls, approvals, rules and the record." },
    paths,
    components: {
      securitySchemes: {
        agent: { type: "http", scheme: "bearer", description: "The agent's token" },
        approver: { type: "http", scheme: "bearer", description: "The approver's token; an agent never has it" }
      },
      schemas: {
        Problem: {
          type: "object",
          properties: {
            error: {
              type: "object",
              properties: { code: { type: "string" }, message: { type: "string" } },
              required: ["code", "message"]
            }
          },
          required: ["error"]
        },
        Json: anyJson
      }
    }
  }
}

const operationOf = (route: HttpRoute): object => ({
  summary: route.summary,
  operationId: operationId(route),
  ...(route.access !== "public" && {
    security: route.access === "approver" ? [{ approver: [] }] : [{ agent: [] }, { approver: [] }]
  }),
  parameters: [
    ...pathParameters(route.path),
    ...queryParameters(route.query),
    ...headerParameters(route.headers ?? {})
  ],
  ...(route.body !== undefined && {
    requestBody: { required: true, content: { "application/json": { schema: schemaOf(route.body, "input") } } }
  }),
  responses: {
    ...Object.fromEntries(
      Object.entries(route.replies).map(([status, { description, schema, contentTypes = ["application/json"] }]) => [
        status,
        { description, ...contentOf(contentTypes, schema) }
      ])
    ),
    default: {
      description: "The request was refused.",
      content: { "application/json": { schema: { $ref: "#/components/schemas/Problem" } } }
    }
  }
})

const operationId = ({ method, path }: HttpRoute): string =>
  [method.toLowerCase(), ...path.split(/\W+/).filter((part) => part !== "" && part !== "v1")].join("_")

const pathParameters = (path: string): ReadonlyArray<object> =>
  [...path.matchAll(/\{(\w+)…?\}/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" }
  }))

const queryParameters = (query: z.ZodObject): ReadonlyArray<object> =>
  Object.entries(query.shape).map(([name, schema]) => ({
    name,
    in: "query",
    required: !schema.safeParse(undefined).success,
    schema: schemaOf(schema, "input")
  }))

const headerParameters = (headers: Readonly<Record<string, string>>): ReadonlyArray<object> =>
  Object.entries(headers).map(([name, description]) => ({
    name,
    in: "header",
    required: false,
    description,
    schema: { type: "string" }
  }))

const contentOf = (types: ReadonlyArray<string>, schema: z.ZodType | undefined): object => {
  const content = schema === undefined ? {} : { schema: schemaOf(schema, "output") }
  return types.length === 0 ? {} : { content: Object.fromEntries(types.map((type) => [type, content])) }
}
