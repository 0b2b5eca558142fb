import { once } from "node:events"
import { existsSync } from "node:fs"
import { type AddressInfo, connect, createServer } from "node:net"

import { serveHaft } from "@haft/server"
import { temporaryWorkspace } from "@haft/testing"
import { type Browser, chromium, type Page } from "playwright-core"

import { type Attack, atMost } from "../attack.ts"

const executablePath = "/usr/bin/chromium"
const tokens = { agent: "agent-of-the-stress-test", approver: "approver-of-the-stress-test" }

const workspaceCount = 20
const tabCount = 6
const callCount = 10_000
const answerCount = 30
const requestCount = 40

const large = `${"x".repeat(99)}\n`.repeat(500)

/**
 * The console in a real browser: how soon a request is on screen, the traffic of answering, and the heap after many large
 * calls. It is the console of the last build: `npm run build` first.
 */
export const attack: Attack = async function* () {
  if (!existsSync(executablePath)) {
    yield atMost("browsers that are missing", executablePath, 1, 0)
    return
  }
  const spaces = Array.from({ length: workspaceCount }, () => temporaryWorkspace({ "large.txt": large }))
  const proxy = await countingProxy()
  const server = await serveHaft({
    workspaces: Object.fromEntries(
      spaces.map(({ root, state }, index) => [
        index === 0 ? "default" : `workspace-${index}`,
        { root, state, sandbox: "none" as const }
      ])
    ),
    tokens,
    version: "0.0.0",
    port: 0,
    publicUrl: proxy.url
  })
  proxy.lead(Number(new URL(server.url).port))
  const call: Call = async (workspace, tool, params) => {
    const response = await fetch(`${server.url}/v1/workspaces/${workspace}/calls`, {
      method: "POST",
      headers: { authorization: `Bearer ${tokens.agent}`, "content-type": "application/json" },
      body: JSON.stringify({ tool, params })
    })
    return response.json()
  }
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] })
  const open = (): Promise<Page> => openPage(browser, server.consoleLink())
  try {
    yield await firstSight(await open(), call)
    yield await trafficOfAnswers(await open(), call, proxy.bytes)
    yield await heapAfterCalls(await open(), call)
  } finally {
    await browser.close()
    await server.stop({ atOnce: true })
    proxy.close()
    for (const workspace of spaces) workspace.remove()
  }
}

type Call = (workspace: string, tool: string, params: object) => Promise<unknown>

const openPage = async (browser: Browser, link: string): Promise<Page> => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  context.setDefaultTimeout(120_000)
  const page = await context.newPage()
  await page.goto(link)
  await page.getByText("Live", { exact: true }).waitFor()
  return page
}

/** Milliseconds from the call of an agent to its request on the screen. */
const firstSight = async (page: Page, call: Call) => {
  for (let tab = 1; tab < tabCount; tab++) {
    const other = await page.context().newPage()
    await other.goto(page.url())
    await other.getByText("Live", { exact: true }).waitFor()
  }
  await page.bringToFront()
  const times: Array<number> = []
  for (let round = 0; round < requestCount; round++) {
    const name = `seen-${round}.txt`
    // The page itself takes the time, so that the way of the question to this process does not count.
    const seen = page.evaluate(
      `new Promise((resolve) => {
        const look = () => document.body.innerText.includes("${name}") ? resolve(Date.now()) : requestAnimationFrame(look)
        look()
      })`
    ) as Promise<number>
    const began = Date.now()
    const reply = call(`workspace-${1 + (round % (workspaceCount - 1))}`, "write_file", { path: name, content: "x" })
    times.push((await seen) - began)
    await page.getByRole("button", { name: "Deny", exact: true }).click()
    await reply
  }
  await page.context().close()
  const p95 = times.toSorted((one, other) => one - other)[Math.ceil(times.length * 0.95) - 1] ?? Infinity
  const tried = `${requestCount} requests, ${workspaceCount} workspaces, ${tabCount} tabs`
  return atMost("a request on screen, p95", tried, p95, 150, " ms")
}

/** Bytes in both directions, of requests, replies and the event stream. */
const trafficOfAnswers = async (page: Page, call: Call, bytes: () => number) => {
  const content = "a line of the new content\n".repeat(500)
  const before = bytes()
  const replies = Array.from({ length: answerCount }, (_, index) =>
    call("default", "write_file", { path: `answer-${index}.txt`, content })
  )
  await page.getByRole("heading", { name: `Pending ${answerCount}` }).waitFor()
  for (let answer = 0; answer < answerCount; answer++) {
    await page.getByRole("button", { name: "Deny", exact: true }).click()
    await page.waitForTimeout(450)
  }
  await Promise.all(replies)
  const traffic = bytes() - before
  await page.context().close()
  return atMost(`traffic of ${answerCount} answers`, "13 KB of change each", traffic / 1024, 1024, " KB")
}

/** The heap of the page after garbage collection, while it shows the calls. */
const heapAfterCalls = async (page: Page, call: Call) => {
  await page.getByRole("link", { name: "activity" }).click()
  const session = await page.context().newCDPSession(page)
  for (let done = 0; done < callCount; done += 50) {
    await Promise.all(Array.from({ length: 50 }, () => call("default", "read_file", { path: "large.txt" })))
  }
  const total = (callCount + answerCount).toLocaleString("en")
  await page.getByRole("heading", { name: `Activity ${total} calls` }).waitFor()
  await session.send("HeapProfiler.enable")
  await session.send("HeapProfiler.collectGarbage")
  const { usedSize } = await session.send("Runtime.getHeapUsage")
  await page.context().close()
  return atMost("the console's heap", `${callCount} calls with 50 KB`, usedSize / 1024 ** 2, 40, " MB")
}

/** A proxy on loopback that counts the bytes of both directions. */
const countingProxy = async () => {
  let target = 0
  let bytes = 0
  const server = createServer((near) => {
    const far = connect(target, "127.0.0.1")
    for (const [from, to] of [
      [near, far],
      [far, near]
    ] as const) {
      from.on("data", (data) => {
        bytes += data.length
        to.write(data)
      })
      from.on("error", () => to.destroy()).on("close", () => to.destroy())
    }
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lead: (port: number): void => {
      target = port
    },
    bytes: () => bytes,
    close: () => server.close()
  }
}
