import type { EndUserScope } from '@stak/http';

// All that a host can let one of its users do, each named by the routes that ask for it. None holds another.
export const endUserScopes = [
  'inbox:read', // the user's messages, counts and events
  'inbox:write', // marks: read, seen, archived, snoozed
  'tasks:read', // the user's tasks, their changes and events
  'tasks:write', // create, change and delete them
  'agents:chat', // the user's conversations and what agents remember of them: read, talk, delete
  'lake:read', // SQL and insights over all rows of the user, whatever service they are from
  'profile:read', // the user's own record
  'profile:write', // their own name
  'tenant:manage', // the tenant itself, for those of its users who are admins
] as const satisfies readonly EndUserScope[];

// What a token is minted with if the host names nothing: what a bell in a page needs.
export const leastScope = 'inbox:read inbox:write';

const known: ReadonlySet<string> = new Set(endUserScopes);
export const isEndUserScope = (text: string): boolean => known.has(text);
