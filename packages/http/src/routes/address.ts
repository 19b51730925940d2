import { isIPv4, isIPv6 } from 'node:net';

// The caller's address. Each of our proxies appends the address it saw to X-Forwarded-For, so the caller's is that many
// entries from the right; everything further left was written by the caller.
export function clientAddress(
  socketAddress: string | undefined,
  forwardedFor: string | undefined,
  trustedHops: number,
): string | undefined {
  if (trustedHops === 0 || forwardedFor === undefined) return plainAddress(socketAddress);
  const seen = forwardedFor.split(',').map(part => part.trim());
  const claimed = seen[Math.max(0, seen.length - trustedHops)];
  return plainAddress(claimed) ?? plainAddress(socketAddress);
}

function plainAddress(address: string | undefined): string | undefined {
  if (address === undefined) return undefined;
  const mapped = address.startsWith('::ffff:') ? address.slice(7) : address;
  if (isIPv4(mapped)) return mapped;
  return isIPv6(address) ? address : undefined;
}

// An IPv6 subscriber has 2^64 addresses, so limits count the network, not the address.
export function addressKey(address: string | undefined): string {
  if (address === undefined || !isIPv6(address)) return address ?? 'unknown';
  const [head = '', tail] = address.split('%')[0]!.toLowerCase().split('::');
  const groups = head === '' ? [] : head.split(':');
  if (tail !== undefined) {
    const after = tail === '' ? 0 : tail.split(':').length;
    while (groups.length + after < 8 && groups.length < 4) groups.push('0');
    if (groups.length < 4) groups.push(...tail.split(':'));
  }
  const network = groups.slice(0, 4).map(group => Number.parseInt(group, 16).toString(16));
  return `${network.join(':')}::/64`;
}
