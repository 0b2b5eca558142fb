import { useEffect, useState } from "react"

const useNow = (): number => {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = window.setInterval(() => setNow(Date.now()), 1_000)
    return () => window.clearInterval(timer)
  }, [])
  return now
}

/** Countdown to the moment a request times out. */
export const TimeLeft = ({ expiresAt }: { readonly expiresAt: number }) => {
  const seconds = Math.max(0, Math.round((expiresAt - useNow()) / 1_000))
  const text = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`
  return <span className={seconds <= 60 ? "time-left soon" : "time-left"}> · expires in {text}</span>
}

/** "2 min ago". */
export const Age = ({ since }: { readonly since: number }) => {
  const minutes = Math.floor((useNow() - since) / 60_000)
  if (minutes < 1) return "just now"
  if (minutes < 60) return `${minutes} min ago`
  return minutes < 1_440 ? `${Math.floor(minutes / 60)} h ago` : `${Math.floor(minutes / 1_440)} d ago`
}
