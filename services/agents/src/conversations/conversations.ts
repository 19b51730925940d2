import { type PageRequest, versionMismatch } from '@stak/http';
import { failedCondition, is, isRefused, tableErrors, write } from '@stak/table';
import { type Service, type StateDeps, timestampOf } from '../deps.ts';
import { agentErrors, noMessage } from '../errors.ts';
import * as limits from '../limits.ts';
import {
  conversation,
  conversationsOfTenant,
  conversationsOfUser,
  type ratings,
  state,
  turn,
  turnsOfConversation,
} from '../main-table.ts';
import { forgetConversation } from '../memory/memory.ts';
import type { Caller } from '../state/access.ts';
import { retryOnConflict } from '../state/conflict-retry.ts';
import {
  type ConversationKey,
  dueAt,
  keyOfConversation,
  leaseOf,
  readState,
  type StateItem,
  withLease,
} from '../state/lease.ts';
import type { Message } from '../state/message-format.ts';
import { readHead } from '../state/reads.ts';
import { type Head, type NewTurn, nextEpoch, type TurnItem } from '../state/turn-items.ts';
import { commitTurns, type Draft, newHead } from './commit-turn.ts';
import { deleteConversation } from './deletion.ts';
import { findConversation } from './external-writes.ts';
import { turnsOfMessages } from './imported-turns.ts';
import { showTurn } from './views.ts';

const exists = () =>
  agentErrors.create('agents.conversation_exists', 'A conversation with this id already exists.');

// Writes both items. The state may have outlived a conversation with the same id: its epoch continues.
export async function createConversation(
  service: StateDeps & Pick<Service, 'store' | 'clock' | 'sealer'>,
  key: ConversationKey,
  draft: Draft,
  also: Partial<StateItem> = {},
): Promise<Head> {
  return retryOnConflict<Head>(service, async () => {
    const before = await readState(service, key);
    if (before && !before.is_deleted) {
      if (await readHead(service, key)) throw exists();
      await deleteConversation(service, key); // it has expired, and was not removed yet
      return undefined;
    }
    if (before) await forgetConversation(service, before); // the new state no longer says what to forget
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
            { ...keyOfConversation(key), ...fresh, ...dueAt(service, key, nowMs), ...also },
            before ? { if: { epoch, is_deleted: true } } : { ifAbsent: true },
          ),
          'the head': write.put(conversation, head, { ifAbsent: true }),
        },
        { pattern: 'create a conversation' },
      );
    } catch (error) {
      if (failedCondition(error, 'the head')) throw exists();
      throw error;
    }
    return head;
  });
}

// Once for each request: if an earlier run of it was not answered, the conversation that it has created is returned.
export const createConversationOnce = (
  service: StateDeps & Pick<Service, 'store' | 'clock' | 'sealer'>,
  key: ConversationKey,
  draft: Draft,
  creation_id: string,
): Promise<Head> =>
  createConversation(service, key, draft, { creation_id }).catch(
    async error => (await findCreated(service, key, creation_id, error)).head,
  );

// Throws the error of the creation if another request has created the conversation.
async function findCreated(
  service: Pick<Service, 'store'>,
  key: ConversationKey,
  creation_id: string,
  error: unknown,
): Promise<{ head: Head; known: StateItem }> {
  if (!agentErrors.includes(error) || error.code !== 'agents.conversation_exists') throw error;
  const [head, known] = await Promise.all([readHead(service, key), readState(service, key)]);
  if (!head || !known || known.is_deleted || known.creation_id !== creation_id) throw error;
  return { head, known };
}

export const listConversations = (
  { store }: Pick<Service, 'store'>,
  tenant_id: string,
  user_id: string | undefined,
  page: PageRequest,
): Promise<{ items: (Partial<Head> & ConversationKey)[]; cursor?: string }> =>
  user_id === undefined
    ? store.query(conversationsOfTenant, { tenant_id }, page)
    : store.query(conversationsOfUser, { tenant_id, user_id }, page);

export async function renameConversation(
  service: StateDeps & Pick<Service, 'store' | 'clock'>,
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

export const listTurns = (
  { store }: Pick<Service, 'store'>,
  head: Head,
  { newestFirst, ...page }: TurnPage,
) =>
  store.query(
    turnsOfConversation,
    { ...keyOfConversation(head), epoch: head.epoch! },
    { ...page, newestFirst, to: { seq: Math.max(head.last_seq!, 0) } },
  );

type Feedback = { rating: (typeof ratings)[number] | null; comment?: string };

// Sets what has a value, and removes the rest.
const setOrRemove = <T extends object>(values: T) => ({
  set: Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Partial<T>,
  remove: (Object.keys(values) as (keyof T)[]).filter(name => values[name] === undefined),
});

// The user and the host each have their own. Only for an existing turn: one that was cleared in the meantime must not
// come back.
export async function rateTurn(
  service: Pick<Service, 'store' | 'clock'>,
  by: Caller['kind'],
  head: Head,
  seq: number,
  given: Feedback,
): Promise<TurnItem> {
  const key = { ...keyOfConversation(head), epoch: head.epoch ?? 0, seq };
  const rating = given.rating ?? undefined;
  const comment = rating && (given.comment || undefined);
  const at = rating && timestampOf(service.clock.now());
  const users = { rating, rating_comment: comment, rated_at: at };
  const hosts = { host_rating: rating, host_rating_comment: comment, host_rated_at: at };
  // What a host said of a conversation of its own before both were kept apart is replaced.
  const before = { rating: undefined, rating_comment: undefined, rated_at: undefined };
  const change =
    by === 'endUser'
      ? setOrRemove(users)
      : setOrRemove(head.user_id === undefined ? { ...hosts, ...before } : hosts);
  try {
    return await service.store.update(turn, key, change, { pattern: 'rate an answer' });
  } catch (error) {
    throw isRefused(error) ? noMessage() : error;
  }
}

// Everything, oldest first, one piece at a time.
export async function* exportConversation(
  { store }: Pick<Service, 'store'>,
  caller: Pick<Caller, 'kind'>,
  head: Head,
): AsyncGenerator<{ kind: string; item: unknown }> {
  const { conversation_id, title, user_id, agent, created_at, updated_at, last_seq, epoch } = head;
  const about = { conversation_id, title, user_id, agent, created_at, updated_at, turns: last_seq };
  yield { kind: 'conversation', item: about };
  if (!last_seq) return;
  const range = { ...keyOfConversation(head), epoch: epoch! };
  for await (const item of store.all(turnsOfConversation, range, { to: { seq: last_seq } }))
    yield { kind: 'turn', item: showTurn(item, caller) };
}

type Line = { kind: string; item: unknown };

// One line of JSON each. The last one says that it is complete: without it, the export was cut off.
export function linesOf(items: AsyncGenerator<Line>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let count = 0;
  let isOver = false;
  return new ReadableStream({
    // The next item is read when the reader has consumed the last one, so a slow reader costs no memory.
    async pull(controller) {
      if (isOver) return controller.close();
      const { done, value } = await items.next();
      isOver = done === true;
      if (!done) count += 1;
      const line = done ? { kind: 'end', items: count } : value;
      controller.enqueue(encoder.encode(`${JSON.stringify(line)}\n`));
    },
    cancel: () => void items.return(undefined),
  });
}

type Import = {
  messages: readonly Message[];
  mostMessages: number;
  creation_id: string;
  endsOpen?: boolean; // results of the last calls follow
};

// Imports a conversation as a new one, whose turns are invisible before all are written. A repeated request continues
// what an earlier run of it has begun.
export async function importConversation(
  service: StateDeps & Pick<Service, 'store' | 'clock' | 'sealer'>,
  key: ConversationKey,
  draft: Draft,
  { messages, mostMessages, creation_id, endsOpen }: Import,
): Promise<void> {
  const turns = turnsOfMessages(messages, endsOpen);
  if (turns.some(turn => Buffer.byteLength(turn.messages) > limits.turnBytes))
    throw agentErrors.create('agents.import_refused', `A message has more than ${limits.turnBytes} bytes.`);
  const lease = leaseOf(service, key);
  let head: Head;
  try {
    head = await createConversation(service, key, draft, { creation_id, ...lease });
  } catch (error) {
    const created = await findCreated(service, key, creation_id, error);
    return continueImport(service, created, turns, mostMessages);
  }
  const known = { ...keyOfConversation(key), epoch: head.epoch!, last_seq: 0, waiting_count: 0 };
  const held = { key: keyOfConversation(key), fence: lease.fence, state: known };
  await commitTurns(service, held, { head, tail: [], turns, mostMessages });
}

async function continueImport(
  service: StateDeps & Pick<Service, 'store' | 'clock'>,
  { head, known }: { head: Head; known: StateItem },
  turns: readonly NewTurn[],
  mostMessages: number,
): Promise<void> {
  const { epoch, last_seq, leased_until = 0 } = known;
  const key = keyOfConversation(known);
  if (last_seq > 0) {
    const last = { ...key, epoch, seq: turns.length };
    const found = last_seq < last.seq ? undefined : await service.store.get(turn, last, { consistent: true });
    if (found?.routing === 'import') return;
    throw exists(); // a message was first
  }
  let isWritten = false;
  await withLease(service, key, async held => {
    if (held.state.last_seq > 0) return;
    await commitTurns(service, held, { head, tail: [], turns, mostMessages });
    isWritten = true;
  });
  if (isWritten) return;
  const retryAfterS = Math.max(1, Math.ceil((leased_until - service.clock.now()) / 1000));
  throw tableErrors.create('table.busy', 'The conversation is still being imported.', { retryAfterS });
}
