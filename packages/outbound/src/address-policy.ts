import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

type Block = [ipaddr.IPv4 | ipaddr.IPv6, number];

export type AddressPolicy = {
  // Undefined if the address may be connected to, else what kind of address it is.
  refusal(address: string): string | undefined;
};

// ipaddr.js contains IANA's special-purpose registries: `unicast` addresses are in none of them. IPv6 outside 2000::/3
// is not allocated, so it is refused without a list. That excludes every form that contains an IPv4 address (mapped,
// compatible, translated, 6to4, Teredo).
const globalIpv6: Block = ipaddr.parseCIDR('2000::/3');

// Addresses that look global and are reachable only within a cloud.
const platformAddresses: readonly Block[] = [ipaddr.parseCIDR('168.63.129.16/32')]; // Azure's host agent

// `deny` wins over `allow`, and `allow` over the default refusals. An allowed IPv4 range does not allow the IPv6 forms
// that contain it.
export function createAddressPolicy(settings: {
  allow?: readonly string[] | undefined;
  deny?: readonly string[] | undefined;
}): AddressPolicy {
  const allowed = (settings.allow ?? []).map(parseBlock);
  const denied = (settings.deny ?? []).map(parseBlock);
  return {
    refusal(text) {
      // A zone (`fe80::1%eth0`) refers to one of our own interfaces.
      if (isIP(text) === 0 || text.includes('%')) return 'not an address';
      const address = ipaddr.parse(text);
      if (isWithin(address, denied)) return 'denied by configuration';
      if (isWithin(address, allowed)) return undefined;
      const range = address.range();
      if (range !== 'unicast') return range;
      if (address.kind() === 'ipv6' && !isWithin(address, [globalIpv6])) return 'unallocated';
      return isWithin(address, platformAddresses) ? 'platform' : undefined;
    },
  };
}

const isWithin = (address: ipaddr.IPv4 | ipaddr.IPv6, blocks: readonly Block[]): boolean =>
  blocks.some(block => address.kind() === block[0].kind() && address.match(block));

// A single address is a block of one. Anything else throws: a mistyped rule must not silently match nothing.
function parseBlock(text: string): Block {
  const [address = '', prefix, ...rest] = text.split('/');
  if (isIP(address) === 0 || rest.length > 0)
    throw new TypeError(`"${text}" is not an address or CIDR block`);
  return ipaddr.parseCIDR(`${address}/${prefix ?? (isIP(address) === 4 ? 32 : 128)}`);
}
