import { useCallback, useEffect, useState } from "react"

export type Loaded<A> =
  | { readonly state: "loading" }
  | { readonly state: "ready"; readonly value: A }
  | { readonly state: "failed"; readonly message: string }

/** Loads something when it is first shown, and again when `load` changes or `reload` is called. */
export const useLoad = <A>(load: () => Promise<A>): { readonly loaded: Loaded<A>; readonly reload: () => void } => {
  const [loaded, setLoaded] = useState<Loaded<A>>({ state: "loading" })
  const [round, setRound] = useState(0)
  useEffect(() => {
    let isOver = false
    load().then(
      (value) => !isOver && setLoaded({ state: "ready", value }),
      (error: unknown) => !isOver && setLoaded({ state: "failed", message: messageOf(error) })
    )
    return () => {
      isOver = true
    }
    // `round` is there to load once more.
  }, [load, round])
  return { loaded, reload: useCallback(() => setRound((before) => before + 1), []) }
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
