import { holdsScope } from '@stak/http';
import { z } from 'zod';

// What an app may be given: never `admin`, which is for keys and for people themselves.
export const appScopes = ['read', 'write'] as const;
export const appScopeSchema = z.enum(appScopes);
export type AppScope = (typeof appScopes)[number];

// `write` holds `read`; on the wire both are named.
export const scopeText = (scope: AppScope): string => (scope === 'write' ? 'read write' : 'read');

// The wider of the scopes that a text names. `read` if it names none; undefined if it names one that no app gets.
export function parseScope(text: string | undefined): AppScope | undefined {
  const names = (text ?? '').split(' ').filter(Boolean);
  if (!names.every(name => appScopeSchema.safeParse(name).success)) return undefined;
  return names.includes('write') ? 'write' : 'read';
}

// The narrowest of what was asked for, what somebody chose and what they hold themselves.
export const narrowest = (...scopes: ('admin' | AppScope)[]): AppScope =>
  scopes.every(scope => holdsScope(scope, 'write')) ? 'write' : 'read';
