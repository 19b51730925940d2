import type { Principal } from '@stak/http';
import { readCurrentHead, restartConversation } from '../conversations/external-writes.ts';
import type { Message } from '../conversations/message-format.ts';
import { answerOf, showReply } from '../conversations/views.ts';
import type { Entered, Service } from '../deps.ts';
import { cleared } from '../errors.ts';
import * as limits from '../limits.ts';
import { commitTurns, HeadMoved, type MessageItem, type NewTurn, type TurnItem } from './commit-turn.ts';
import { type Held, whileHeld } from './lease.ts';
import { makeReply } from './reply.ts';

export type TurnRun = {
  held: Held;
  waiting: readonly MessageItem[];
  tenant: Entered;
  replyFor?: (text: string) => string | undefined; // how the state says that a channel has to be told
};

// A turn belongs to the user of its conversation, also when a worker runs it: the worker enters as that user.
export const turnPrincipal = (tenantId: string, userId: string | undefined): Principal => ({
  kind: 'endUser',
  tenantId,
  userId: userId ?? '-',
  scope: 'write',
});

// Answers everything that waits, under the lease, and commits once. Rejects if there is no answer; what waits is
// then still there.
export async function runTurn(
  service: Service,
  { held, waiting, tenant, replyFor }: TurnRun,
): Promise<TurnItem> {
  const live = service.hub.open(waiting);
  const { tenant_id } = tenant;
  const { max_conversation_history: mostMessages } = tenant.settings;
  const user_id = held.state.user_id;
  try {
    const committed = await withDeadline(service, held, async signal => {
      let settled = await readCurrentHead(service, held, tailTurns(mostMessages));
      if (!settled) {
        await restartConversation(service, held, waiting[0]?.channel);
        settled = (await readCurrentHead(service, held, 0)) ?? lost();
      }
      const made = await makeReply(service, {
        tenant,
        refresh: () => service.enterTenant(turnPrincipal(tenant_id, user_id), tenant_id),
        user_id,
        conversation_id: held.key.conversation_id,
        said: waiting.map(one => one.content ?? ''),
        tail: settled.tail,
        signal,
        emit: live.push,
      });
      const turn = newTurn(waiting, made);
      for (let moved = 0; ; moved++) {
        try {
          const reply = replyFor?.(answerOf(turn));
          const commit = { ...settled, turns: [turn], mostMessages, answered: waiting, reply };
          return (await commitTurns(service, held, commit))[0]!;
        } catch (error) {
          if (!(error instanceof HeadMoved) || moved >= limits.raceAttempts) throw error;
          settled = (await readCurrentHead(service, held, tailTurns(mostMessages))) ?? lost(); // deleted meanwhile
        }
      }
    });
    live.push({ event: 'reply', data: showReply(committed, committed.message_ids[0]!) });
    return committed;
  } finally {
    live.end();
  }
}

const lost = (): never => {
  throw cleared();
};

// Most turns have two messages; a few more are read, and what does not fit is left out.
const tailTurns = (mostMessages: number): number => Math.ceil(mostMessages / 2) + 1;

function newTurn(waiting: readonly MessageItem[], made: Awaited<ReturnType<typeof makeReply>>): NewTurn {
  const asked = waiting.map((one): Message => ({ role: 'user', content: one.content ?? '' }));
  const { messages, ...rest } = made;
  return {
    ...rest,
    messages: JSON.stringify([...asked, ...messages]),
    message_ids: waiting.map(one => one.message_id),
  };
}

async function withDeadline<T>(
  service: Service,
  held: Held,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const late = new AbortController();
  service.clock.sleep(limits.turnMs, over.signal).then(
    () => late.abort(new Error(`The turn took longer than ${limits.turnMs} ms`)),
    () => {},
  );
  try {
    return await whileHeld(service, held, lost => work(AbortSignal.any([lost, late.signal])));
  } finally {
    over.abort('over');
  }
}
