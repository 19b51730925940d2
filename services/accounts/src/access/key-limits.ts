import { BlockList, isIPv4, isIPv6 } from 'node:net';
import type { RouteSpec } from '@stak/http';
import { z } from 'zod';
import { accountsErrors } from '../errors.ts';
import * as limits from '../limits.ts';

// Optional limits of a key, besides its scope.
export const keyLimitsShape = {
  expiresAt: z.iso
    .datetime()
    .optional()
    .describe('When the key stops working. It stays listed for another month'),
  tenants: z
    .array(z.string().min(1).max(limits.endUserIdChars))
    .min(1)
    .max(limits.keyTenants)
    .optional()
    .describe('Limits the key to these tenants, and to nothing else in the account'),
  addresses: z
    .array(z.string().max(60).refine(isNetwork, 'Not an address or a network like 192.0.2.0/24'))
    .min(1)
    .max(limits.keyAddresses)
    .optional()
    .describe('Limits the key to these networks, in CIDR notation'),
};

export type KeyLimits = { endsAtMs?: number; tenants?: readonly string[]; addresses?: readonly string[] };

type Network = { address: string; bits: number; family: 'ipv4' | 'ipv6' };

function parseNetwork(text: string): Network | undefined {
  const [address = '', length, ...rest] = text.split('/');
  const family = isIPv4(address) ? 'ipv4' : isIPv6(address) && !address.includes('%') ? 'ipv6' : undefined;
  if (family === undefined || rest.length > 0) return undefined;
  const most = family === 'ipv4' ? 32 : 128;
  if (length === undefined) return { address, bits: most, family };
  const bits = /^\d{1,3}$/.test(length) ? Number(length) : Number.NaN;
  return bits <= most ? { address, bits, family } : undefined;
}

function isNetwork(text: string): boolean {
  return parseNetwork(text) !== undefined;
}

// Whether the key is valid now. Throws if it is valid, but not from this address.
export function isWithinLimits(
  { endsAtMs, addresses }: KeyLimits,
  nowMs: number,
  address: string | undefined,
): boolean {
  if (endsAtMs !== undefined && nowMs >= endsAtMs) return false;
  if (addresses === undefined || isListed(addresses, address)) return true;
  throw accountsErrors.create(
    'accounts.key_address_refused',
    `This key cannot be used from ${address ?? 'an unknown address'}.`,
  );
}

function isListed(networks: readonly string[], address: string | undefined): boolean {
  if (address === undefined) return false;
  const list = new BlockList();
  for (const { address: first, bits, family } of networks
    .map(parseNetwork)
    .filter(network => network !== undefined))
    list.addSubnet(first, bits, family);
  return list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
}

const refusals = ['accounts.key_address_refused', 'accounts.key_tenant_refused'];

// Every route that accepts a key can respond with the problems of its limits. Routes for end users and public routes
// cannot.
export const keyProblems = ({ auth }: Pick<RouteSpec, 'auth'>): readonly string[] =>
  auth === 'public' || auth === 'provider' ? [] : refusals;
