import type { AccountPrincipal, EndUserPrincipal } from '@stak/http';
import { tasksErrors } from './errors.ts';
import * as limits from './limits.ts';

// The owner of tasks: an account, or an end user of a tenant.
export type Owner =
  | { readonly kind: 'account'; readonly accountId: string }
  | { readonly kind: 'endUser'; readonly tenantId: string; readonly userId: string };

// `usr_…` for an account, `tenant:uid` for an end user. A tenant may use any text as a uid, so each part is
// percent-encoded: no part contains a colon or `#`, and no two owners have the same id.
export function userIdOf(owner: Owner | AccountPrincipal | EndUserPrincipal): string {
  const id =
    owner.kind === 'account' ? encode(owner.accountId) : `${encode(owner.tenantId)}:${encode(owner.userId)}`;
  if (id.length > limits.userIdBytes)
    throw tasksErrors.create('tasks.user_refused', 'The id of this user is too long.');
  return id;
}

export function ownerOf(userId: string): Owner {
  const [first = '', second] = userId.split(':').map(decodeURIComponent);
  return second === undefined
    ? { kind: 'account', accountId: first }
    : { kind: 'endUser', tenantId: first, userId: second };
}

// The tenant of an end user; undefined for an account.
export const tenantOf = (userId: string): string | undefined => {
  const owner = ownerOf(userId);
  return owner.kind === 'endUser' ? owner.tenantId : undefined;
};

function encode(part: string): string {
  if (part === '' || !part.isWellFormed())
    throw tasksErrors.create('tasks.user_refused', 'The id of this user is empty or not valid Unicode.');
  return encodeURIComponent(part).replace(
    /[!'()*]/g,
    character => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
