import { it } from "@effect/vitest"
import { nodeProcesses, nodeWorkspace, noSandbox } from "@haft/node"
import { testDialect } from "@haft/testing"
import * as Layer from "effect/Layer"
import { afterAll } from "vitest"

import { anthropic, anthropicTools } from "./index.ts"

testDialect({
  dialect: anthropic,
  plugin: anthropicTools,
  contracts: new URL("../../../contracts", import.meta.url).pathname,
  shared: nodeProcesses,
  services: ({ root, state }) => Layer.merge(nodeWorkspace({ root, state, durable: false }), noSandbox()),
  it,
  afterAll
})
