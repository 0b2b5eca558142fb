import { join } from "node:path"

import { temporaryWorkspace } from "@haft/testing"
import { afterAll, expect, it, onTestFinished } from "vitest"

import { openTelemetry, openWorkspace } from "../internal.ts"

const workspace = temporaryWorkspace({ "src/parse.ts": "export function parseDate(text: string) {}\n", "a.txt": "" })
afterAll(() => workspace.remove())

const openTwo = async () => {
  const telemetry = await openTelemetry()
  const open = (name: string) =>
    openWorkspace(
      { root: workspace.root, state: join(workspace.state, name), approval: "all", packages: ["fs", "search", "exec"] },
      { telemetry: { of: telemetry, workspace: name } }
    )
  const [one, other] = [await open("one"), await open('o"ther')]
  onTestFinished(async () => {
    await one.dispose()
    await other.dispose()
    await telemetry.dispose()
  })
  return { telemetry, one: await one.host(), other: await other.host() }
}

it("counts calls of each workspace in one registry, and shows a reader only its own", async () => {
  const { telemetry, one, other } = await openTwo()
  telemetry.counter({ id: "haft.http.requests", description: "Requests" })({ route: "/" }, 2)
  await one.call("read_file", { path: "a.txt" })
  await one.call("read_file", { path: "missing" })
  await other.call("read_file", { path: "a.txt" })
  await other.call("made_up_by_the_caller", {})

  const all = await telemetry.prometheus()
  expect(all).toContain('haft_calls_total{tool="read_file",status="success",workspace="one"} 1\n')
  expect(all).toContain('haft_calls_total{tool="read_file",status="error",workspace="one"} 1\n')
  expect(all).toContain(String.raw`haft_calls_total{tool="unknown",status="error",workspace="o\"ther"} 1` + "\n")
  expect(all).toContain('haft_call_duration_seconds_count{tool="read_file",workspace="one"} 2\n')
  expect(all).toContain("# TYPE haft_call_duration_seconds histogram\n")
  expect(all).toContain('haft_http_requests_total{route="/"} 2\n')

  const own = await telemetry.prometheus(["one"])
  expect(own).toContain('workspace="one"')
  expect(own).not.toContain("ther")
  expect(own).toContain('haft_http_requests_total{route="/"} 2\n')
  expect(await telemetry.prometheus([])).not.toContain("workspace=")
})

it("has the code index of a workspace", async () => {
  const { telemetry, one } = await openTwo()
  await one.call("search_code", { query: "parse a date" })
  const text = await telemetry.prometheus()
  expect(text).toMatch(/^haft_code_index_files\{workspace="one"\} [1-9]\d*$/m)
  expect(text).toMatch(/^haft_code_index_size_bytes\{workspace="one"\} [1-9]\d*$/m)
  expect(text).toMatch(/^haft_code_index_refresh_duration_seconds_count\{workspace="one"\} [1-9]\d*$/m)
})

it.runIf(process.platform === "linux")("has the overlays of a workspace (not on this platform)", async () => {
  const { telemetry, one } = await openTwo()
  await one.call("run_command", { command: "echo new > b.txt" })
  expect(await telemetry.prometheus()).toContain('haft_overlay_commits_total{outcome="committed",workspace="one"} 1\n')
})

it("reads a gauge whenever the metrics are read, until it is removed", async () => {
  const telemetry = await openTelemetry()
  onTestFinished(telemetry.dispose)
  let figure = 1
  const remove = telemetry.gauge({ id: "haft.figure", description: "A figure", unit: "bytes" }, () => figure)
  expect(await telemetry.prometheus()).toBe(
    "# HELP haft_figure_bytes A figure\n# TYPE haft_figure_bytes gauge\nhaft_figure_bytes 1\n"
  )
  figure = 2
  expect(await telemetry.prometheus()).toContain("haft_figure_bytes 2\n")
  remove()
  expect(await telemetry.prometheus()).toBe("")
})
