import { BlockList, isIP } from "node:net"

/** True for an address of the public internet: nothing private, local, reserved, translated or tunnelled. */
export const isPublicAddress = (address: string): boolean => {
  if (isIP(address) === 4) return !specialIPv4().check(address, "ipv4")
  // A zone (`fe80::1%eth0`) names an interface of this machine.
  if (isIP(address) !== 6 || address.includes("%")) return false
  return globalIPv6().check(address, "ipv6") && !specialIPv6().check(address, "ipv6")
}

type Subnet = readonly [network: string, prefix: number]

/** Made with the first look: most hosts fetch nothing. */
const blocks = (family: "ipv4" | "ipv6", ...subnets: ReadonlyArray<Subnet>): (() => BlockList) => {
  let list: BlockList | undefined
  return () => {
    if (list !== undefined) return list
    list = new BlockList()
    for (const [network, prefix] of subnets) list.addSubnet(network, prefix, family)
    return list
  }
}

const specialIPv4 = blocks(
  "ipv4",
  ["0.0.0.0", 8], // this network
  ["10.0.0.0", 8], // private
  ["100.64.0.0", 10], // carrier-grade NAT, and metadata services of some clouds
  ["127.0.0.0", 8], // loopback
  ["168.63.129.16", 32], // a cloud's host agent, on an address that looks public
  ["169.254.0.0", 16], // link-local, and metadata services
  ["172.16.0.0", 12], // private
  ["192.0.0.0", 24], // protocol assignments
  ["192.0.2.0", 24], // documentation
  ["192.31.196.0", 24], // AS112
  ["192.52.193.0", 24], // AMT
  ["192.88.99.0", 24], // 6to4 relays
  ["192.168.0.0", 16], // private
  ["192.175.48.0", 24], // AS112
  ["198.18.0.0", 15], // benchmarks
  ["198.51.100.0", 24], // documentation
  ["203.0.113.0", 24], // documentation
  ["224.0.0.0", 4], // multicast
  ["240.0.0.0", 4] // reserved, and broadcast
)

/** What is handed out to the public; IPv4-mapped, NAT64, unique local, link-local and multicast lie outside. */
const globalIPv6 = blocks("ipv6", ["2000::", 3])

const specialIPv6 = blocks(
  "ipv6",
  ["2001::", 23], // protocol assignments, with Teredo tunnels
  ["2001:db8::", 32], // documentation
  ["2002::", 16], // 6to4: an IPv4 address in disguise
  ["2620:4f:8000::", 48], // AS112
  ["3fff::", 20] // documentation
)
