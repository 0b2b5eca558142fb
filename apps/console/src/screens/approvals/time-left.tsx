import { useEffect, useState } from "react"

/** "expires in 3:00", counted down. */
export const TimeLeft = ({ expiresAt }: { readonly expiresAt: number }) => {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = window.setInterval(() => setNow(Date.now()), 1_000)
    return () => window.clearInterval(timer)
  }, [])
  const seconds = Math.max(0, Math.round((expiresAt - now) / 1_000))
  const text = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`
  return <span className={seconds <= 60 ? "time-left soon" : "time-left"}> · expires in {text}</span>
}
