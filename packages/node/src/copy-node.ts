import { chunksOf } from "./content.ts"
import { notARegularFile } from "./errno.ts"
import { type Content, modeOf, type Node, type View, withFile } from "./view.ts"

/** The same again, to be written where a rename does not reach: on another device. */
export const copyNode = (view: View, node: Node): Node => {
  if (node.kind === "directory") {
    const children = new Map<string, Node | undefined>()
    for (const name of view.names(node)) {
      const child = view.child(node, name)
      if (child !== undefined) children.set(name, copyNode(view, child))
    }
    return { kind: "directory", children, mode: modeOf(node) ?? 0o755 }
  }
  if (node.kind !== "file") {
    if (node.kind === "other") throw notARegularFile(node.origin?.path ?? "")
    return { kind: "symlink", target: node.target ?? "" }
  }
  if (node.content !== undefined) return node
  const { origin } = node
  if (origin === undefined) return node
  // Read into memory piece by piece when it is written: the descriptor is not open in between.
  const content: Content = {
    *[Symbol.iterator]() {
      const pieces = withFile(view.root, node, (descriptor) => [...copies(descriptor)])
      yield* pieces
    }
  }
  return {
    kind: "file",
    content,
    mode: origin.mode,
    owner: origin.owner,
    ...(node.fingerprint !== undefined && { fingerprint: node.fingerprint })
  }
}

function* copies(descriptor: number): Generator<Uint8Array, void> {
  for (const chunk of chunksOf(descriptor)) yield Uint8Array.from(chunk)
}
