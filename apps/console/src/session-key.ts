// The key of this browser's session. It is kept by origin, port included, while the session's cookie goes to every port
// of the host: a server on another port gets the cookie, and can't use it.
const place = "haft-session-key"

/** Takes the key that signing in has put behind the address's #, and takes it out of the address. */
export const takeSessionKey = (): void => {
  const key = /^#key=([\w-]+)$/.exec(window.location.hash)?.[1]
  if (key === undefined) return
  window.localStorage.setItem(place, key)
  window.history.replaceState(null, "", window.location.pathname)
}

/** Calls back when another tab has signed in. */
export const onSessionChange = (listener: () => void): void =>
  window.addEventListener("storage", ({ key }) => key === place && listener())

const sessionKey = (): string => window.localStorage.getItem(place) ?? ""

/** The header that every request carries. */
export const sessionHeaders = (): Readonly<Record<string, string>> => ({ "haft-session-key": sessionKey() })

/** Forgets the key, in all tabs. */
export const forgetSessionKey = (): void => window.localStorage.removeItem(place)
