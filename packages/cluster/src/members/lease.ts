/** A member's lease, by the monotonic clock of its process: it goes on while the process is frozen. */
export interface Lease {
  readonly isInForce: () => boolean
  /**
   * True when the workspaces of members that are out of touch may be taken. After an outage of the database all leases
   * have ended; a member that has renewed its own for as long as a lease lasts has given the others time to do so, too.
   */
  readonly mayTakeOver: () => boolean
  /** Renews the lease. `sent` is the time before the statement was sent: the lease in the database ends later. */
  readonly renew: (sent: number) => void
}

export const makeLease = (leaseMs: number): Lease => {
  let until = Number.NEGATIVE_INFINITY
  let since = 0
  const isInForce = (): boolean => performance.now() < until
  return {
    isInForce,
    mayTakeOver: () => isInForce() && performance.now() - since >= leaseMs,
    renew: (sent) => {
      if (!isInForce()) since = sent
      until = sent + leaseMs
    }
  }
}
