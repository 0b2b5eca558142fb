import { useCallback, useEffect, useRef, useState } from "react"

export type Loaded<A> =
  | { readonly state: "loading" }
  | { readonly state: "ready"; readonly value: A }
  | { readonly state: "failed"; readonly message: string }

/** Loads something when it is first shown, and again when `load` changes or `reload` is called. */
export const useLoad = <A>(load: () => Promise<A>): { readonly loaded: Loaded<A>; readonly reload: () => void } => {
  const [loaded, setLoaded] = useState<Loaded<A>>({ state: "loading" })
  const latest = useRef(0)
  const reload = useCallback(() => {
    const round = ++latest.current
    const settle = (next: Loaded<A>): void => {
      if (round === latest.current) setLoaded(next)
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
  return { loaded, reload }
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
