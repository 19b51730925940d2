import { versionMismatch } from '@stak/http';
import { is, write } from '@stak/table';
import { type Caller, findConversation } from './access.ts';
import { deleteConversation } from './clearing.ts';
import { commitTurns, type Draft, type Head, newHead, nextEpoch } from './commit.ts';
import type { Service } from './deps.ts';
import { agentErrors } from './errors.ts';
import type { Message } from './history.ts';
import { turnsOfMessages } from './imported-turns.ts';
import { type ConversationKey, dueAt, keyOfConversation, leaseOf, readState } from './leases.ts';
import * as limits from './limits.ts';
import type { PageRequest } from './list-page.ts';
import { isRefused, refusedStep, untilDone } from './race.ts';
import { readHead } from './reading.ts';
import {
  conversation,
  conversationsOfTenant,
  conversationsOfUser,
  state,
  turnsOfConversation,
} from './table.ts';
import { showTurn } from './views.ts';

const exists = () => agentErrors.create('agents.conversation_exists', 'There is a conversation of this id.');

// Both items at once. The state may have outlived a conversation of the same id: its epoch goes on.
export async function createConversation(
  service: Service,
  key: ConversationKey,
  draft: Draft,
  lease?: ReturnType<typeof leaseOf>,
): Promise<Head> {
  return untilDone<Head>(service, async () => {
    const before = await readState(service, key);
    if (before && !before.is_deleted) {
      if (await readHead(service, key)) throw exists();
      await deleteConversation(service, key); // it has expired, and nobody has tidied up yet
      return undefined;
    }
    const nowMs = service.clock.now();
    const epoch = before?.epoch ?? nextEpoch(0, nowMs);
    const head = newHead(key, draft, epoch, nowMs);
    const fresh = {
      ...draft,
      created_at: head.created_at,
      epoch,
      last_seq: 0,
      waiting_count: 0,
      has_stale: before !== undefined,
    };
    try {
      await service.store.transact(
        {
          'the state': write.put(
            state,
            { ...keyOfConversation(key), ...fresh, ...dueAt(key, nowMs), ...lease },
            before ? { if: { epoch, is_deleted: true } } : { ifAbsent: true },
          ),
          'the head': write.put(conversation, head, { ifAbsent: true }),
        },
        { pattern: 'create a conversation' },
      );
    } catch (error) {
      if (refusedStep(error, 'the head')) throw exists();
      throw error;
    }
    return head;
  });
}

export const listConversations = (
  { store }: Service,
  tenant_id: string,
  user_id: string | undefined,
  page: PageRequest,
): Promise<{ items: (Partial<Head> & ConversationKey)[]; cursor?: string }> =>
  user_id === undefined
    ? store.query(conversationsOfTenant, { tenant_id }, page)
    : store.query(conversationsOfUser, { tenant_id, user_id }, page);

export async function renameConversation(
  service: Service,
  caller: Caller,
  key: ConversationKey,
  title: string,
  expected: string | undefined,
): Promise<Head> {
  const head = await findConversation(service, caller, key);
  if (expected !== undefined && expected !== String(head.version)) throw versionMismatch();
  try {
    const asRead = expected === undefined ? {} : { ifVersion: head.version };
    await service.store.transact(
      {
        'the head': write.update(
          conversation,
          keyOfConversation(key),
          { set: { title, is_named: true } },
          { ...asRead, if: { digest: is.present } },
        ),
        'the state': write.update(state, keyOfConversation(key), { set: { title } }),
      },
      { pattern: 'rename a conversation' },
    );
  } catch (error) {
    throw isRefused(error) ? versionMismatch() : error;
  }
  return findConversation(service, caller, key);
}

type TurnPage = { limit: number; cursor?: string; caller: string; newestFirst: boolean };

export const listTurns = ({ store }: Service, head: Head, { newestFirst, ...page }: TurnPage) =>
  store.query(
    turnsOfConversation,
    { ...keyOfConversation(head), epoch: head.epoch! },
    { ...page, newestFirst, to: { seq: Math.max(head.last_seq!, 0) } },
  );

// Everything, oldest first, one piece at a time.
export async function* exportConversation(
  { store }: Service,
  head: Head,
): AsyncGenerator<{ kind: string; item: unknown }> {
  const { conversation_id, title, user_id, created_at, updated_at, last_seq, epoch } = head;
  const about = { conversation_id, title, user_id, created_at, updated_at, turns: last_seq };
  yield { kind: 'conversation', item: about };
  if (!last_seq) return;
  const range = { ...keyOfConversation(head), epoch: epoch! };
  for await (const item of store.all(turnsOfConversation, range, { to: { seq: last_seq } }))
    yield { kind: 'turn', item: showTurn(item) };
}

// A conversation from elsewhere becomes a new one here: nobody sees it before it is complete.
export async function importConversation(
  service: Service,
  key: ConversationKey,
  draft: Draft,
  messages: readonly Message[],
  mostMessages: number,
): Promise<Head> {
  const turns = turnsOfMessages(messages);
  if (turns.some(one => Buffer.byteLength(one.messages) > limits.turnBytes))
    throw agentErrors.create('agents.import_refused', `A message has more than ${limits.turnBytes} bytes.`);
  const lease = leaseOf(service, key);
  const head = await createConversation(service, key, draft, lease);
  const known = { ...keyOfConversation(key), epoch: head.epoch!, last_seq: 0, waiting_count: 0 };
  const held = { key: keyOfConversation(key), fence: lease.fence, state: known };
  await commitTurns(service, held, { head, tail: [], turns, mostMessages });
  return { ...head, last_seq: turns.length, version: head.version + 1 };
}
