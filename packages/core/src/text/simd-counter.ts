/**
 * Counts newlines sixteen bytes at a time, three times as fast as JavaScript can. Undefined where the engine has no
 * WebAssembly with SIMD.
 */
export const simdCounter = (): Counter | undefined => {
  if (counter === undefined) counter = makeCounter() ?? "none"
  return counter === "none" ? undefined : counter
}

type Counter = (bytes: Uint8Array) => number

let counter: Counter | "none" | undefined

/*
 * The module, as text:
 *
 * (module
 *   (memory (export "memory") 4)
 *   ;; Newlines from 0 to $end, which is a multiple of 16.
 *   (func (export "count") (param $end i32) (result i32)
 *     (local $at i32) (local $stop i32) (local $count i32) (local $sums v128)
 *     (block $done (loop $blocks
 *       (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
 *       ;; A byte holds the sum of 255 vectors.
 *       (local.set $stop (i32.add (local.get $at) (i32.const 4080)))
 *       (if (i32.gt_u (local.get $stop) (local.get $end)) (then (local.set $stop (local.get $end))))
 *       (local.set $sums (v128.const i32x4 0 0 0 0))
 *       (loop $vectors
 *         (local.set $sums (i8x16.sub (local.get $sums)
 *           (i8x16.eq (v128.load (local.get $at)) (v128.const i8x16 10 10 10 10 10 10 10 10 10 10 10 10 10 10 10 10))))
 *         (local.set $at (i32.add (local.get $at) (i32.const 16)))
 *         (br_if $vectors (i32.lt_u (local.get $at) (local.get $stop))))
 *       (local.set $sums (i32x4.extadd_pairwise_i16x8_u (i16x8.extadd_pairwise_i8x16_u (local.get $sums))))
 *       (local.set $count (i32.add (local.get $count)
 *         (i32.add (i32.add (i32x4.extract_lane 0 (local.get $sums)) (i32x4.extract_lane 1 (local.get $sums)))
 *                  (i32.add (i32x4.extract_lane 2 (local.get $sums)) (i32x4.extract_lane 3 (local.get $sums))))))
 *       (br $blocks)))
 *     (local.get $count)))
 */
const moduleAsHex =
  "0061736d0100000001060160017f017f030201000503010004071202066d656d6f7279020005636f756e7400000a97010194" +
  "0102037f017b02400340200120004f0d01200141f01f6a2102200220004b0440200021020bfd0c0000000000000000000000" +
  "00000000002104034020042001fd000400fd0c0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0afd23fd712104200141106a21012001" +
  "2002490d000b2004fd7dfd7f210420032004fd1b002004fd1b016a2004fd1b022004fd1b036a6a6a21030c000b0b20030b"

interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer }
  readonly count: (end: number) => number
}

// Declared here because the types for it come with Node or the DOM, and core has neither.
declare const WebAssembly:
  | {
      readonly validate: (code: Uint8Array) => boolean
      readonly Module: new (code: Uint8Array) => object
      readonly Instance: new (module: object) => { readonly exports: unknown }
    }
  | undefined

const makeCounter = (): Counter | undefined => {
  const code = Uint8Array.from(moduleAsHex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))
  if (typeof WebAssembly === "undefined" || !WebAssembly.validate(code)) return undefined
  const { memory, count } = new WebAssembly.Instance(new WebAssembly.Module(code)).exports as Exports
  const room = new Uint8Array(memory.buffer)
  return (bytes) => {
    let sum = 0
    for (let at = 0; at < bytes.length; at += room.length) {
      const piece = bytes.subarray(at, at + room.length)
      const end = (piece.length + 15) & ~15
      room.set(piece)
      // Up to the next multiple of 16 there may still be bytes of an earlier, longer piece.
      room.fill(0, piece.length, end)
      sum += count(end)
    }
    return sum
  }
}
