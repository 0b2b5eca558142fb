import type { ContentBlock, Reply } from "@haft/core"

/** Image or sound of a reply, as base64. */
export type MediaBlock = Extract<ContentBlock, { readonly type: "image" | "audio" }>

/** Images and sounds of a reply, for an API that has a place for them besides text. */
export const mediaIn = ({ blocks }: Reply): ReadonlyArray<MediaBlock> =>
  blocks.filter((block): block is MediaBlock => block.type === "image" || block.type === "audio")

/** A note for a model whose API has no place for a block: base64 is never given as text. */
export const leftOut = ({ type, mimeType }: MediaBlock): string =>
  `[${mimeType}: this API takes no ${type} in the result of a tool]`

export const dataUrl = ({ data, mimeType }: MediaBlock): string => `data:${mimeType};base64,${data}`
