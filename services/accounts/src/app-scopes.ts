import { holdsScope } from '@stak/http';
import { z } from 'zod';

// The scopes that an app can have. `admin` is only for people and API keys.
export const appScopes = ['read', 'write'] as const;
export const appScopeSchema = z.enum(appScopes);
export type AppScope = (typeof appScopes)[number];

// `write` includes `read`; OAuth's scope text lists both.
export const scopeText = (scope: AppScope): string => (scope === 'write' ? 'read write' : 'read');

// Returns the wider of the scopes in the text, `read` if it has none, and undefined if it has one that apps cannot have.
export function parseScope(text: string | undefined): AppScope | undefined {
  const names = (text ?? '').split(' ').filter(Boolean);
  if (!names.every(name => appScopeSchema.safeParse(name).success)) return undefined;
  return names.includes('write') ? 'write' : 'read';
}

// The narrowest of the scopes that were requested, chosen by the person, and held by them.
export const narrowest = (...scopes: ('admin' | AppScope)[]): AppScope =>
  scopes.every(scope => holdsScope(scope, 'write')) ? 'write' : 'read';

const resourcePath = '/mcp';

/** The resource that apps' tokens are valid for, and their audience (RFC 8707). */
export const mcpResource = (publicUrl: string): string => publicUrl + resourcePath;

export const resourceMetadataPath = `/.well-known/oauth-protected-resource${resourcePath}`;
