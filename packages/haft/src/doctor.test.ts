import { temporaryWorkspace } from "@haft/testing"
import * as Effect from "effect/Effect"
import { expect, it } from "vitest"

import type { HaftConfig } from "./config/config.ts"
import { network, secretFiles } from "./doctor-policies.ts"
import { howToFetch } from "./doctor.ts"

it.each([
  ["docker: Error response from daemon: No such image: debian:stable-slim.", "debian:stable-slim"],
  ["Error: quay.io/team/tools: image not known: quay.io/team/tools", "quay.io/team/tools"]
])("doctor names the image that an engine lacks: %s", (reason, image) => {
  expect(howToFetch(reason)).toBe(`Fetch its image: docker pull ${image}, or podman pull ${image}.`)
})

it("doctor names no image where an engine has another problem", () => {
  expect(howToFetch("Cannot connect to the Docker daemon")).toBeUndefined()
})

it("doctor names the secret files of the workspace, and says when no sandbox keeps commands from them", async () => {
  const { root, state, remove } = temporaryWorkspace({ ".env": "A=1\n", "keys/b.pem": "x\n", "c.txt": "x\n" })
  const look = (config: HaftConfig) => Effect.runPromise(secretFiles({ root, state, ...config }))
  const found = ".env, keys/b.pem; replies are not redacted"
  expect(await look({})).toEqual({ subject: "Secret files", state: "ok", found })
  expect(await look({ sandbox: "none" })).toMatchObject({ state: "limited", found })
  expect(await look({ secretPaths: ["!.env", "!*.pem", "c.txt"], redactReplies: true })).toMatchObject({
    found: "c.txt; secrets elsewhere are redacted in replies"
  })
  expect(await look({ root: `${root}/nothing` })).toMatchObject({ state: "missing" })
  remove()
})

it("doctor tells the network policy, and which credentials have no value", async () => {
  const look = (config: HaftConfig) => Effect.runPromise(network(config))
  expect(await look({})).toMatchObject({ state: "ok", found: expect.stringContaining("no policy") })
  const credential = (env: string) => ({ variable: "TOKEN", hosts: ["api.test"], from: { env } })
  const policy = { allow: ["api.test"], deny: ["b.test"], ask: false }
  const found = "allows api.test; denies b.test; refuses others"
  expect(await look({ network: policy })).toEqual({ subject: "Network", state: "ok", found })
  const brokered = `${found}; brokers TOKEN for api.test`
  expect(await look({ network: { ...policy, credentials: [credential("PATH")] } })).toMatchObject({
    state: "ok",
    found: brokered
  })
  const without = await look({ network: { ...policy, credentials: [credential("HAFT_TEST_NO_SUCH_VARIABLE")] } })
  expect(without).toMatchObject({ state: "missing", mend: expect.stringContaining("TOKEN") })
  expect(await look({ network: policy, sandbox: "none" })).toMatchObject({ state: "limited" })
  expect(await look({ network: policy, sandbox: "seatbelt" })).toMatchObject({ state: "limited" })
  const docker = process.platform === "linux" ? { state: "ok" } : { state: "limited" }
  expect(await look({ network: policy, sandbox: "docker" })).toMatchObject(docker)
})
