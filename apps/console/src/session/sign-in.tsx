import { signInMethods } from "../api.ts"
import { useLoad } from "../hooks/use-load.ts"
import { Problem } from "../parts.tsx"
import { rememberPlace, signInProblem } from "./session-key.ts"

const problems: Readonly<Record<string, string>> = {
  expired: "The sign-in took too long, or belongs to another browser. Try again.",
  denied: "The sign-in was canceled.",
  not_granted: "Your account may not use this server. Whoever runs it can add you to server.signIn.grants.",
  unavailable: "The sign-in provider can't be reached, or did not accept this server. Try again later."
}

interface SignInProps {
  /** True where the page has to stay as it is; signing in then happens in another tab. */
  readonly isElsewhere?: boolean
}

/** Link to the OpenID provider, where the server has one. */
export const SignIn = ({ isElsewhere = false }: SignInProps) => {
  const { loaded } = useLoad(signInMethods)
  if (loaded.state !== "ready" || !loaded.value.oidc) return null
  const problem = signInProblem()
  return (
    <>
      <Problem>{problem === undefined ? undefined : (problems[problem] ?? "The sign-in failed.")}</Problem>
      <p>
        <a
          className="button"
          href="/login/oidc"
          onClick={rememberPlace}
          {...(isElsewhere && { target: "_blank", rel: "noopener" })}
        >
          Sign in
        </a>
      </p>
    </>
  )
}
