import { ftruncateSync, openSync, writeSync } from "node:fs"
import { join } from "node:path"

import * as fc from "fast-check"
import sharp from "sharp"
import { describe, expect, it } from "vitest"

import { openTools } from "../../test/open-tools.ts"
import { imageSize } from "./image-size.ts"

const picture = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: { r: 200, g: 10, b: 90 } } })

const formats = ["png", "jpeg", "gif", "webp"] as const

describe("read_file on an image", () => {
  it("attaches it as an image block and keeps base64 out of output and text", async () => {
    const bytes = await picture(40, 30).png().toBuffer()
    await using tools = await openTools({ "notes.txt": bytes })
    const reply = await tools.host.call("read_file", { path: "notes.txt" })
    expect(reply).toMatchObject({
      ok: true,
      output: { content: "", encoding: "image", media_type: "image/png", width: 40, height: 30 },
      text: `[image/png, 40 x 30 pixels, ${bytes.length} bytes]`
    })
    expect(reply.blocks).toEqual([
      { type: "text", text: reply.text },
      { type: "image", data: bytes.toString("base64"), mimeType: "image/png" }
    ])
    expect(JSON.stringify(reply.wire)).not.toContain(bytes.toString("base64").slice(0, 40))
  })

  it("scales a large one down to the longest side", async () => {
    await using tools = await openTools({ "a.png": await picture(4000, 1000).png().toBuffer() })
    const reply = await tools.host.call("read_file", { path: "a.png" })
    expect(reply).toMatchObject({ output: { width: 1568, height: 392, scaled: true, media_type: "image/png" } })
    const [, block] = reply.blocks
    const data = Buffer.from(block?.type === "image" ? block.data : "", "base64")
    expect(await sharp(data).metadata()).toMatchObject({ format: "png", width: 1568, height: 392 })
  })

  it("converts an AVIF, which model APIs don't take", async () => {
    await using tools = await openTools({ "a.avif": await picture(20, 10).avif().toBuffer() })
    expect(await tools.call("read_file", { path: "a.avif" })).toMatchObject({
      result: { media_type: "image/png", width: 20, height: 10 }
    })
  })

  it("refuses one that can't be made small enough", async () => {
    const noise = Buffer.from(Array.from({ length: 90_000 }, (_, at) => (at * 7919 * ((at % 251) + 1)) % 256))
    const bytes = await sharp(noise, { raw: { width: 200, height: 150, channels: 3 } })
      .png()
      .toBuffer()
    await using tools = await openTools({ "a.png": bytes }, { config: { media: { maxBytes: 1024 } } })
    expect(await tools.call("read_file", { path: "a.png" })).toMatchObject({ error: { code: "file_too_large" } })
  })

  it("refuses a file of 2 GB without reading it", async () => {
    await using tools = await openTools()
    const file = openSync(join(tools.workspace.root, "a.png"), "w")
    writeSync(file, await picture(10, 10).png().toBuffer())
    ftruncateSync(file, 2 * 1024 ** 3)
    expect(await tools.call("read_file", { path: "a.png" })).toMatchObject({ error: { code: "file_too_large" } })
  })
})

describe("the size of an image", () => {
  it("is read from the header of every format, whatever the size", async () => {
    const sizes = fc.tuple(
      fc.constantFrom(...formats),
      fc.integer({ min: 1, max: 300 }),
      fc.integer({ min: 1, max: 300 })
    )
    await fc.assert(
      fc.asyncProperty(sizes, async ([format, width, height]) => {
        const bytes = await picture(width, height)[format]().toBuffer()
        expect(imageSize(bytes, `image/${format}`)).toEqual({ width, height })
      }),
      { numRuns: 40 }
    )
  })

  it("is read from lossless and extended WebP and from progressive JPEG", async () => {
    const alpha = sharp({
      create: { width: 31, height: 17, channels: 4, background: { r: 1, g: 2, b: 3, alpha: 0.5 } }
    })
    expect(imageSize(await alpha.clone().webp({ lossless: true }).toBuffer(), "image/webp")).toEqual({
      width: 31,
      height: 17
    })
    expect(imageSize(await alpha.clone().webp().toBuffer(), "image/webp")).toEqual({ width: 31, height: 17 })
    const progressive = await picture(31, 17).withMetadata().jpeg({ progressive: true }).toBuffer()
    expect(imageSize(progressive, "image/jpeg")).toEqual({ width: 31, height: 17 })
  })

  it("is unknown for an image that is cut off anywhere, and never throws", async () => {
    // Not GIF: a byte of its data may look like its end.
    for (const format of ["png", "jpeg", "webp"] as const) {
      const bytes = await picture(12, 9)[format]().toBuffer()
      for (let length = 0; length < bytes.length - 20; length++) {
        const found = imageSize(bytes.subarray(0, length), `image/${format}`)
        expect(found, `${format} ${length}`).toBeUndefined()
      }
    }
  })

  it("never throws on arbitrary bytes behind a signature", async () => {
    const whole = await Promise.all(formats.map((format) => picture(2, 2)[format]().toBuffer()))
    const begun = fc.tuple(fc.nat({ max: formats.length - 1 }), fc.nat({ max: 40 }), fc.uint8Array({ maxLength: 200 }))
    fc.assert(
      fc.property(begun, ([at, kept, bytes]) => {
        const head = whole[at]?.subarray(0, kept) ?? Buffer.alloc(0)
        const size = imageSize(
          Buffer.concat([head, bytes, Buffer.from("IEND\xff\xd9;", "latin1")]),
          `image/${formats[at]}`
        )
        expect(size === undefined || size.width > 0).toBe(true)
      })
    )
  })
})

describe("read_file on a sound", () => {
  const mp3 = Buffer.concat([Buffer.from("ID3\x04\0\0\0\0\0\0", "latin1"), Buffer.alloc(100)])

  it("attaches it as an audio block", async () => {
    await using tools = await openTools({ "a.mp3": mp3 })
    const reply = await tools.host.call("read_file", { path: "a.mp3" })
    expect(reply).toMatchObject({ output: { encoding: "audio", media_type: "audio/mpeg", content: "" } })
    expect(reply.blocks[1]).toEqual({ type: "audio", data: mp3.toString("base64"), mimeType: "audio/mpeg" })
  })

  it("refuses one beyond the limit", async () => {
    await using tools = await openTools(
      { "a.mp3": Buffer.concat([mp3, Buffer.alloc(2000)]) },
      { config: { media: { maxBytes: 1024 } } }
    )
    expect(await tools.call("read_file", { path: "a.mp3" })).toMatchObject({ error: { code: "file_too_large" } })
  })
})

describe("read_file on a notebook", () => {
  it("attaches the images of its outputs, and no others", async () => {
    const image = (await picture(3, 3).png().toBuffer()).toString("base64")
    const output = (data: object) => ({ output_type: "display_data", metadata: {}, data })
    const outputs = [output({ "image/png": [image, "\n"] }), output({ "image/jpeg": "<script>" })]
    const cell = { cell_type: "code", source: "plot()", outputs: [...outputs, output({ "text/plain": 1 }), "odd"] }
    const notebook = JSON.stringify({ nbformat: 4, cells: [cell] })
    await using tools = await openTools({ "a.ipynb": notebook })
    const { blocks, text } = await tools.host.call("read_file", { path: "a.ipynb" })
    expect(blocks.slice(1)).toEqual([{ type: "image", data: image, mimeType: "image/png" }])
    expect(text).toBe(
      "--- cell 0 (code) ---\nplot()\n--- output ---\n[image/png, image 1 below]\n--- output ---\n[image/jpeg, not shown]\n"
    )
    expect(await tools.call("read_file", { path: "a.ipynb", encoding: "raw" })).toMatchObject({
      result: { content: notebook, encoding: "utf-8" }
    })
  })
})
