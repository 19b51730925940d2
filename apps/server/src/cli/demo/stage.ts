import { StakError } from '@stak/client';
import { type Clock, systemClock } from '@stak/kit';
import { euros } from './shop.ts';
import type { Beat } from './story.ts';
import { signEvent, wordEvent } from './stripe.ts';
import { dayFromNow, inbox_key, storyLabel, tenant_id, type Workspace } from './workspace.ts';

// A destination that can be made to fail, after the given events, and to recover.
export type Shipping = {
  fail(eventIds: readonly string[]): Promise<void>;
  repair(eventIds: readonly string[]): Promise<void>;
};

export type Stage = {
  // Plays a beat through the API, and returns a line about it. Undefined if it cannot be played here.
  play(beat: Beat): Promise<string | undefined>;
  readonly counts: Readonly<Record<'webhooks' | 'messages' | 'tasks' | 'chats', number>>;
  readonly eventIds: readonly string[]; // of Stripe's events, the newest last
};

export const watchedEvents = 20; // the newest: earlier ones are done by then

export type StageSettings = {
  run: string; // identifies everything this run creates: repeating the run creates nothing twice
  startMs: number; // of the run; due dates are relative to it
  clock?: Clock;
  shipping?: Shipping;
};

export function createStage(
  workspace: Workspace,
  { run, startMs, shipping, clock = systemClock }: StageSettings,
): Stage {
  const { client, stripe } = workspace;
  const counts = { webhooks: 0, messages: 0, tasks: 0, chats: 0 };
  const eventIds: string[] = [];
  const taskIds = new Map<string, string>();
  let played = 0;
  let isQuotaUsed = false;
  let outageFrom = 0;

  const inboxId = { tenant_id, inbox_key };

  const pay = async (beat: Extract<Beat, { kind: 'payment' | 'forgery' }>, id: string) => {
    const { order } = beat;
    const isForged = beat.kind === 'forgery';
    const type = isForged ? 'checkout.session.completed' : beat.type;
    const nowS = Math.floor(clock.now() / 1000);
    const body = wordEvent({ id, type, order, createdS: nowS });
    const signature = signEvent(body, isForged ? 'a guess' : stripe.secret, nowS);
    const { data } = await client.webhooks.receive(
      { source_id: stripe.sourceId, body },
      { headers: { 'Content-Type': 'application/json', 'Stripe-Signature': signature } },
    );
    counts.webhooks += 1;
    if (isForged) return `a request without the secret says that order ${order.number} is paid: rejected`;
    eventIds.push(data.eventId);
    return `${type}  order ${order.number}, ${euros(order.cents)}, ${order.customer.display_name}`;
  };

  const playOne = async (beat: Beat, id: string): Promise<string | undefined> => {
    switch (beat.kind) {
      case 'payment':
      case 'forgery':
        return isQuotaUsed ? undefined : `stripe  ${await pay(beat, id)}`;
      case 'message':
      case 'announcement': {
        const { title, body, category } = beat;
        const draft = { message: { title, body }, taxonomy: { category }, host_system_id: id };
        if (beat.kind === 'message')
          await client.inbox.publish({ ...inboxId, body: { ...draft, uids: [...beat.to] } });
        else await client.inbox.broadcast({ ...inboxId, body: draft });
        counts.messages += 1;
        return `inbox   to ${beat.kind === 'message' ? beat.to.join(' and ') : 'everyone'}: ${title}`;
      }
      case 'reading': {
        const { data } = await client.inbox.readMany({ ...inboxId, uid: beat.user, body: {} });
        return data.changed > 0 ? `inbox   ${beat.user} reads ${data.changed}` : undefined;
      }
      case 'task': {
        const { title, category, priority, dueInDays } = beat;
        const body = {
          title,
          category,
          priority,
          labels: [storyLabel],
          due_date: dayFromNow(dueInDays, startMs),
        };
        const { data } = await client.tasks.create({ body, 'idempotency-key': id });
        taskIds.set(beat.task, data.task_id);
        counts.tasks += 1;
        return `tasks   new: ${title}`;
      }
      case 'progress': {
        const task_id = taskIds.get(beat.task);
        if (task_id === undefined) return undefined;
        const { data } = await client.tasks.update({ task_id, body: { status: beat.status } });
        return `tasks   ${beat.status === 'completed' ? 'done' : 'begun'}: ${data.title}`;
      }
      case 'question': {
        const conversation_id = `${run}-${beat.user}`;
        const body = { content: beat.content, user_id: beat.user };
        await client.agents.sendMessage({ tenant_id, conversation_id, body, 'idempotency-key': id });
        counts.chats += 1;
        return `agents  ${beat.user}: ${beat.content}`;
      }
      case 'outage':
        if (!shipping) return undefined;
        // Some earlier events may still be retried, and fail now.
        outageFrom = Math.max(0, eventIds.length - watchedEvents);
        await shipping.fail(eventIds.slice(outageFrom));
        return 'desk    the shipping desk is out of order: its deliveries fail';
      case 'repair':
        if (!shipping) return undefined;
        await shipping.repair(eventIds.slice(outageFrom));
        return 'desk    the shipping desk is well again: what failed is replayed';
    }
  };

  return {
    counts,
    eventIds,
    async play(beat) {
      try {
        return await playOne(beat, `${run}-${played++}`);
      } catch (error) {
        if (!(error instanceof StakError) || error.code !== 'webhooks.quota_exceeded') throw error;
        isQuotaUsed = true;
        return "stripe  the plan's events of this month are used up: the story continues without payments";
      }
    },
  };
}
