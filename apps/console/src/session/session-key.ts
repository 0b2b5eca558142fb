// The key of this browser's session. It is kept by origin, port included, while the session's cookie goes to every port
// of the host: a server on another port gets the cookie, and can't use it.
const place = "haft-session-key"
const returnPlace = "haft-return-to"

/** Why signing in by the provider came to nothing, as the server puts it behind the address's #. */
let problem: string | undefined

/** Takes the key that signing in has put behind the address's #, and takes it out of the address. */
export const takeSessionKey = (): void => {
  const [, name, value = ""] = /^#(key|sign-in)=([\w-]+)$/.exec(window.location.hash) ?? []
  if (name === undefined) return
  if (name === "key") window.localStorage.setItem(place, value)
  else problem = value
  window.history.replaceState(null, "", window.location.pathname + (window.sessionStorage.getItem(returnPlace) ?? ""))
  window.sessionStorage.removeItem(returnPlace)
}

/** Remembers the place in the console, for when the person comes back from signing in. */
export const rememberPlace = (): void => window.sessionStorage.setItem(returnPlace, window.location.hash)

/** Why the last attempt to sign in came to nothing. */
export const signInProblem = (): string | undefined => problem

/** Calls back when another tab has signed in. */
export const onSessionChange = (listener: () => void): void =>
  window.addEventListener("storage", ({ key }) => key === place && listener())

const sessionKey = (): string => window.localStorage.getItem(place) ?? ""

/** The header that every request carries. */
export const sessionHeaders = (): Readonly<Record<string, string>> => ({ "haft-session-key": sessionKey() })

/** Forgets the key, in all tabs. */
export const forgetSessionKey = (): void => window.localStorage.removeItem(place)
