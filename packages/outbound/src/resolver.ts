import { Resolver } from 'node:dns/promises';
import { lookupMs, lookupTries } from './limits.ts';

// All addresses of a host name. Throws if there are none.
export type Resolve = (hostname: string) => Promise<readonly string[]>;

// Queries the name servers without a thread. `dns.lookup` holds one of libuv's four threads for as long as a name
// server takes, so a few dead destinations would block the storage engine's disk writes. The price: names in /etc/hosts
// do not resolve, except localhost, which RFC 6761 maps to the loopback.
export function createDnsResolver(): Resolve {
  const dns = new Resolver({ timeout: lookupMs, tries: lookupTries });
  return async hostname => {
    if (/^(?:.+\.)?localhost$/i.test(hostname)) return ['127.0.0.1', '::1'];
    const [ipv4, ipv6] = await Promise.allSettled([dns.resolve4(hostname), dns.resolve6(hostname)]);
    const addresses = [ipv4, ipv6].flatMap(answer => (answer.status === 'fulfilled' ? answer.value : []));
    if (addresses.length === 0 && ipv4.status === 'rejected') throw ipv4.reason;
    return addresses;
  };
}

// Concurrent connections to one host share a query.
export function shareLookups(resolve: Resolve): Resolve {
  const asked = new Map<string, Promise<readonly string[]>>();
  return hostname => {
    const pending = asked.get(hostname);
    if (pending) return pending;
    const answer = resolve(hostname).finally(() => asked.delete(hostname));
    asked.set(hostname, answer);
    return answer;
  };
}
