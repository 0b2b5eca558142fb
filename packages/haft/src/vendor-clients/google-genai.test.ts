import { GoogleGenAI } from "@google/genai"
import { genaiTool } from "@haft/adapters/google-genai"
import { temporaryWorkspace } from "@haft/testing"
import { expect, it } from "vitest"

import { scriptedApi } from "../../test/scripted-api.ts"
import { openHost } from "../promise.ts"

it("Google's SDK calls haft's tools by itself, and sends their answers", async () => {
  using workspace = temporaryWorkspace({ "a.txt": "one\n" })
  const { root, state } = workspace
  await using host = await openHost({ root, state, dialect: "gemini-cli", packages: ["fs"], approval: "all" })
  const call = (name: string, args: object) => ({ functionCall: { id: `${name}-1`, name, args } })
  const turns = [
    [
      call("replace", { file_path: "a.txt", instruction: "i", old_string: "one", new_string: "1" }),
      call("read_file", { file_path: "nope" })
    ],
    [{ text: "done" }]
  ]
  await using api = await scriptedApi((_, count) => ({
    candidates: [{ content: { role: "model", parts: turns[count - 1] ?? [] }, finishReason: "STOP" }]
  }))
  const ai = new GoogleGenAI({ apiKey: "none", httpOptions: { baseUrl: api.url } })
  const tools = [genaiTool(host)]
  const { text } = await ai.models.generateContent({ model: "scripted", contents: "go", config: { tools } })
  expect(text).toBe("done")
  expect(workspace.read("a.txt")).toBe("1\n")
  const declared = api.requests[0]?.body["tools"] as ReadonlyArray<{ functionDeclarations: Array<{ name: string }> }>
  expect(declared[0]?.functionDeclarations.find(({ name }) => name === "replace")).toMatchObject({
    parametersJsonSchema: { type: "object", required: expect.arrayContaining(["file_path"]) as unknown }
  })
  const contents = api.requests[1]?.body["contents"] as ReadonlyArray<{ readonly parts: ReadonlyArray<object> }>
  expect(contents.at(-1)?.parts).toMatchObject([
    { functionResponse: { id: "replace-1", name: "replace", response: { output: {} } } },
    { functionResponse: { id: "read_file-1", name: "read_file", response: { error: {} } } }
  ])
})
