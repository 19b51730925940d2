import { hashParts, type Principal, type PrincipalOf } from '@stak/http';
import type { Service } from '../deps.ts';
import { agentErrors } from '../errors.ts';
import type { ConversationKey } from './lease.ts';
import { readHead } from './reads.ts';

export type Caller = PrincipalOf<'user'>;

// A host sees every conversation of its tenant, an end user only their own. A conversation without a user belongs to
// the host.
export const mayUse = (caller: Caller, { user_id }: { user_id?: string }): boolean =>
  caller.kind === 'account' || caller.userId === user_id;

// An end user's chat: one of theirs with this id, or else the one that they have created by it. The second id is derived
// from the user, so that it says nothing about the conversations of others.
export async function resolveChat(
  service: Pick<Service, 'store'>,
  caller: Caller,
  key: ConversationKey,
): Promise<ConversationKey> {
  if (caller.kind !== 'endUser') return key;
  const { tenant_id, conversation_id } = key;
  if ((await readHead(service, key))?.user_id === caller.userId) return key;
  return { tenant_id, conversation_id: `chat-${hashParts(caller.userId, conversation_id)}` };
}

// The user of a request: the one a host names, or the calling end user.
export function resolveUser(caller: Caller, given: string | undefined): string | undefined {
  if (caller.kind === 'account') return given;
  if (given !== undefined && given !== 'me' && given !== caller.userId)
    throw agentErrors.create('agents.user_not_found', 'User not found.');
  return caller.userId;
}

// A turn belongs to the user of its conversation, even if a worker runs it: the worker acts as that user.
export const turnPrincipal = (tenantId: string, userId: string | undefined): Principal => ({
  kind: 'endUser',
  tenantId,
  userId: userId ?? '-',
  scope: 'write',
});
