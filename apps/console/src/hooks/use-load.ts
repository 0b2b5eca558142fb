import { useCallback, useEffect, useRef, useState } from "react"

export type Loaded<A> =
  | { readonly state: "loading" }
  | { readonly state: "ready"; readonly value: A }
  | { readonly state: "failed"; readonly message: string }

/** Loads something when it is first shown, and again when `load` changes or `reload` is called. */
export const useLoad = <A>(load: () => Promise<A>): { readonly loaded: Loaded<A>; readonly reload: () => void } => {
  const [known, setKnown] = useState<{ readonly by: () => Promise<A>; readonly loaded: Loaded<A> }>()
  const latest = useRef(0)
  const reload = useCallback(() => {
    const round = ++latest.current
    const settle = (loaded: Loaded<A>): void => {
      if (round === latest.current) setKnown({ by: load, loaded })
    }
    load().then(
      (value) => settle({ state: "ready", value }),
      (error: unknown) => settle({ state: "failed", message: messageOf(error) })
    )
  }, [load])
  useEffect(() => {
    const rounds = latest
    reload()
    return () => {
      rounds.current++
    }
  }, [reload])
  // A value that an earlier `load` returned belongs to something else, such as another run.
  return { loaded: known?.by === load ? known.loaded : loading, reload }
}

const loading = { state: "loading" } as const

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
