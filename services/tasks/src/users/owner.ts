import type { AccountPrincipal, EndUserPrincipal } from '@stak/http';
import { tasksErrors } from '../errors.ts';
import * as limits from '../limits.ts';

// Whose tasks they are: an account, or an end user of a tenant.
export type Owner =
  | { readonly kind: 'account'; readonly accountId: string }
  | { readonly kind: 'endUser'; readonly tenantId: string; readonly userId: string };

// `usr_…` of an account, `tenant:uid` of an end user. What a tenant calls its users is any text, so every part is
// percent-encoded: no part holds a colon or a `#`, and no two owners have the same id.
export function userIdOf(owner: Owner | AccountPrincipal | EndUserPrincipal): string {
  const id =
    owner.kind === 'account' ? encode(owner.accountId) : `${encode(owner.tenantId)}:${encode(owner.userId)}`;
  if (id.length > limits.userIdBytes)
    throw tasksErrors.create('tasks.user_refused', 'The id of this user is too long to keep tasks for it.');
  return id;
}

export function ownerOf(userId: string): Owner {
  const [first = '', second] = userId.split(':').map(decodeURIComponent);
  return second === undefined
    ? { kind: 'account', accountId: first }
    : { kind: 'endUser', tenantId: first, userId: second };
}

// The tenant an end user belongs to; undefined for an account.
export const tenantOf = (userId: string): string | undefined => {
  const owner = ownerOf(userId);
  return owner.kind === 'endUser' ? owner.tenantId : undefined;
};

function encode(part: string): string {
  if (part === '' || !part.isWellFormed())
    throw tasksErrors.create('tasks.user_refused', 'This user has no id that could be kept.');
  return encodeURIComponent(part).replace(
    /[!'()*]/g,
    character => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
