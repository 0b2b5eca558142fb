/** Configuration of a member of a cluster under test. */
export interface MemberSetting {
  readonly database: string
  readonly address: string
  readonly directory: string
  readonly seed: string
  readonly workspaces: ReadonlyArray<string>
  readonly leaseMs: number
  /** Where the member listens for callers. */
  readonly host: string
  /** Milliseconds that the clock of its machine is ahead. */
  readonly skewMs: number
}

export const memberTokens = { agent: "agent-of-the-stress-test", approver: "approver-of-the-stress-test" }
