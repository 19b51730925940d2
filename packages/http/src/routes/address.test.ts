import { describe, expect, it } from 'vitest';
import { addressKey, clientAddress } from './address.ts';

describe('the address of a caller', () => {
  it.each<
    [socket: string | undefined, header: string | undefined, hops: number, address: string | undefined]
  >([
    ['192.0.2.1', undefined, 0, '192.0.2.1'],
    ['192.0.2.1', '6.6.6.6', 0, '192.0.2.1'],
    ['10.0.0.1', '6.6.6.6, 192.0.2.1', 1, '192.0.2.1'],
    ['10.0.0.1', '6.6.6.6, 192.0.2.1, 10.0.0.2', 2, '192.0.2.1'],
    ['10.0.0.1', '192.0.2.1', 3, '192.0.2.1'],
    ['10.0.0.1', 'unknown', 1, '10.0.0.1'],
    ['10.0.0.1', '', 1, '10.0.0.1'],
    ['10.0.0.1', '"><script>', 1, '10.0.0.1'],
    ['::ffff:192.0.2.1', undefined, 0, '192.0.2.1'],
    ['2001:db8::1', undefined, 0, '2001:db8::1'],
    [undefined, undefined, 0, undefined],
  ])('from %s and %s behind %i proxies is %s', (socket, header, hops, address) => {
    expect(clientAddress(socket, header, hops)).toBe(address);
  });

  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::9', '2001:db8:1:2::/64'],
    ['2001:db8::9', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['1:2::4:5:6:7:8', '1:2:0:4::/64'],
    ['::2:3:4:5:6:7:8', '0:2:3:4::/64'],
    [undefined, 'unknown'],
  ])('%s counts as %s', (address, key) => {
    expect(addressKey(address)).toBe(key);
  });
});
