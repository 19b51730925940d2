import type { Context } from 'hono';
import type { ApiEnv } from '../context.ts';
import { type Auth, type Principal, principalKey } from '../principal.ts';
import { addressKey } from './address.ts';

// The key that limits count by: the principal, or the address of a caller without one.
export function callerKey<A extends Auth>(c: Context<ApiEnv<A>>): string {
  const principal: Principal | undefined = c.get('principal');
  return principal ? principalKey(principal) : addressKey(c.get('address'));
}
