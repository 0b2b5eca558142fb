// approvalgate: a registry of tools, functions for OpenAI, and a person who answers with other arguments.
import assert from "node:assert/strict"

import { type ApprovalgateRequest, type ApprovalgateResponse, toolRegistry } from "haft/contracts"
import { openHost } from "haft/promise"

import { scratch } from "../scratch.ts"

const approve = async ({ tool, args, reason }: ApprovalgateRequest): Promise<ApprovalgateResponse> => {
  console.log(`${tool}: ${reason}`)
  return { approved: true, modifiedArgs: { ...args, content: "three\n" } }
}

await using host = await openHost({ ...(await scratch()), dialect: "approvalgate" })
const registry = toolRegistry(host, approve)
assert(registry.toOpenAIFunctions().some(({ name }) => name === "write_file"))

const written = await registry.get("write_file")?.execute({ path: "notes.txt", content: "two\n" })
assert(written?.ok)
const read = await registry.get("read_file")?.execute({ path: "notes.txt" })
assert(read?.ok && JSON.stringify(read.value).includes("three"))

const missing = await registry.get("read_file")?.execute({ path: "nothing.txt" })
assert(missing?.ok === false && missing.error.code === "FILE_NOT_FOUND")
