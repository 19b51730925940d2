import type { EndUserScope } from '@stak/http';

// All scopes that a host can give to one of its users, each named by the routes that require it. None includes another.
export const endUserScopes = [
  'inbox:read', // the user's messages, counts and events
  'inbox:write', // marks: read, seen, archived, snoozed
  'tasks:read', // the user's tasks, their changes and events
  'tasks:write', // create, change and delete them
  'agents:chat', // the user's conversations and what agents remember of them: read, talk, delete
  'lake:read', // SQL and insights over all rows of the user, in all services
  'profile:read', // the user's own record
  'profile:write', // their own name
  'tenant:manage', // the tenant itself, for those of its users who are admins
] as const satisfies readonly EndUserScope[];

// The scopes of a token if the host names none: what an inbox widget needs.
export const leastScope = 'inbox:read inbox:write';

const known: ReadonlySet<string> = new Set(endUserScopes);
export const isEndUserScope = (text: string): boolean => known.has(text);
