/** As many names as one sandbox may look up: what is left of 198.18.0.0/15. */
const mostNames = 2 ** 17 - 4

/**
 * Addresses of 198.18.0.0/15 that stand for names, so that programs that know no proxy can be told apart by where they
 * connect to. Nobody outside is asked about a name, so looking one up tells nobody anything.
 */
export class StandInAddresses {
  readonly #addresses = new Map<string, string>()
  readonly #names = new Map<string, string>()

  /** The address that stands for a name; undefined once all are given. */
  addressOf(name: string): string | undefined {
    const known = this.#addresses.get(name)
    if (known !== undefined) return known
    if (this.#addresses.size >= mostNames) return undefined
    // 198.18.0.1 is the loopback's own.
    const number = this.#addresses.size + 2
    const address = `198.${18 + (number >> 16)}.${(number >> 8) & 255}.${number & 255}`
    this.#addresses.set(name, address)
    this.#names.set(address, name)
    return address
  }

  /** The name that an address stands for. */
  nameOf(address: string): string | undefined {
    return this.#names.get(address)
  }
}
