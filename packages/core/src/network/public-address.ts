/** True for an address of the public internet: nothing private, local, reserved, translated or tunnelled. */
export const isPublicAddress = (address: string): boolean => {
  const four = parseIPv4(address)
  if (four !== undefined) return !specialIPv4.some(({ network, prefix }) => isIn([four], [network], prefix, 32))
  const six = parseIPv6(address)
  if (six === undefined) return false
  const isWithin = ({ network, prefix }: Subnet<ReadonlyArray<number>>): boolean => isIn(six, network, prefix, 16)
  return isWithin(globalIPv6) && !specialIPv6.some(isWithin)
}

/** True for an IPv4 or IPv6 address in its plain spelling, without brackets, zone or port. */
export const isAddress = (text: string): boolean => parseIPv4(text) !== undefined || parseIPv6(text) !== undefined

interface Subnet<Network> {
  readonly network: Network
  readonly prefix: number
}

/** Compares the first `prefix` bits of two addresses, given as words of `width` bits. */
const isIn = (
  address: ReadonlyArray<number>,
  network: ReadonlyArray<number>,
  prefix: number,
  width: number
): boolean => {
  for (let at = 0, left = prefix; left > 0; at++, left -= width) {
    const ignored = 2 ** Math.max(0, width - left)
    if (Math.floor((address[at] ?? 0) / ignored) !== Math.floor((network[at] ?? 0) / ignored)) return false
  }
  return true
}

const parseIPv4 = (text: string): number | undefined => {
  const parts = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text)?.slice(1)
  // A leading zero means octal to some programs.
  if (parts === undefined || parts.some((part) => Number(part) > 255 || /^0\d/.test(part))) return undefined
  return parts.reduce((sum, part) => sum * 256 + Number(part), 0)
}

/** Eight groups of 16 bits. A zone (`fe80::1%eth0`) names an interface of this machine, and is not parsed. */
const parseIPv6 = (text: string): ReadonlyArray<number> | undefined => {
  if (!/^[0-9a-f:.]+$/i.test(text) || !text.includes(":")) return undefined
  const canonical = URL.parse(`http://[${text}]`)?.hostname.slice(1, -1)
  if (canonical === undefined) return undefined
  const [head = "", tail] = canonical.split("::")
  const groups = (part: string | undefined): ReadonlyArray<number> =>
    part === undefined || part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16))
  const [before, after] = [groups(head), groups(tail)]
  return [...before, ...Array.from({ length: 8 - before.length - after.length }, () => 0), ...after]
}

const subnet4 = (network: string, prefix: number): Subnet<number> => ({ network: parseIPv4(network) ?? 0, prefix })
const subnet6 = (network: string, prefix: number): Subnet<ReadonlyArray<number>> => ({
  network: parseIPv6(network) ?? [],
  prefix
})

const specialIPv4 = [
  subnet4("0.0.0.0", 8), // this network
  subnet4("10.0.0.0", 8), // private
  subnet4("100.64.0.0", 10), // carrier-grade NAT, and metadata services of some clouds
  subnet4("127.0.0.0", 8), // loopback
  subnet4("168.63.129.16", 32), // a cloud's host agent, on an address that looks public
  subnet4("169.254.0.0", 16), // link-local, and metadata services
  subnet4("172.16.0.0", 12), // private
  subnet4("192.0.0.0", 24), // protocol assignments
  subnet4("192.0.2.0", 24), // documentation
  subnet4("192.31.196.0", 24), // AS112
  subnet4("192.52.193.0", 24), // AMT
  subnet4("192.88.99.0", 24), // 6to4 relays
  subnet4("192.168.0.0", 16), // private
  subnet4("192.175.48.0", 24), // AS112
  subnet4("198.18.0.0", 15), // benchmarks
  subnet4("198.51.100.0", 24), // documentation
  subnet4("203.0.113.0", 24), // documentation
  subnet4("224.0.0.0", 4), // multicast
  subnet4("240.0.0.0", 4) // reserved, and broadcast
]

/** IPv6 range of public addresses; IPv4-mapped, NAT64, unique local, link-local and multicast addresses lie outside. */
const globalIPv6 = subnet6("2000::", 3)

const specialIPv6 = [
  subnet6("2001::", 23), // protocol assignments, with Teredo tunnels
  subnet6("2001:db8::", 32), // documentation
  subnet6("2002::", 16), // 6to4: an IPv4 address in disguise
  subnet6("2620:4f:8000::", 48), // AS112
  subnet6("3fff::", 20) // documentation
]
