import { closeSync } from "node:fs"

import { notARegularFile } from "../../errno.ts"
import { chunksOf, openFile } from "../content.ts"
import { withResolved } from "../paths/containment.ts"
import { type RepeatableContent, modeOf, type Node, type View } from "./planned-tree.ts"

/** Copies an entry to another device, where a rename does not reach. */
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
  const content: RepeatableContent = {
    *[Symbol.iterator]() {
      const descriptor = withResolved(view.root, origin.path, (place) => openFile(view.root, place))
      try {
        yield* chunksOf(descriptor)
      } finally {
        closeSync(descriptor)
      }
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
