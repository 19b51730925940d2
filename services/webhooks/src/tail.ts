import type { EventSink } from '@stak/http';
import { createBell, timeOf } from '@stak/kit';
import { type Following, type Subscription, subscribe } from '@stak/streams';
import type { Store } from '@stak/table';
import { readRequest } from './deliveries.ts';
import type { Base } from './deps.ts';
import { walkEvents } from './event-list.ts';
import { type Event, event, ferryhookEvents } from './events-table.ts';
import * as limits from './limits.ts';
import type { EventView } from './schema.ts';

export type Tails = {
  // Rung for every event of this process. Of others it hears where the store can tell it, and else finds them by looking.
  ring(sourceId: string): void;
  following: Following;
  follow(sourceId: string, afterId: string | undefined, options: TailOptions, sink: EventSink): Promise<void>;
};
export type TailOptions = { payload: boolean; show(event: Event): EventView };

// New events of a source as they come. A write may appear a little after its own time stamp, so the last seconds are
// looked at again each time, and after a reconnection sent again: everything at least once, by the same id.
export function createTails({ store, clock }: Base): Tails {
  const bells = new Map<string, Set<() => void>>();
  const wanted = createBell(clock);
  const ring = (sourceId: string) => {
    for (const one of bells.get(sourceId) ?? []) one();
  };

  return {
    ring,
    following: {
      subscription: subscribe({
        name: 'webhooks-live',
        table: ferryhookEvents,
        entities: [event],
        handle(change) {
          if (change.kind === 'insert') ring(change.new.sourceId);
        },
      }) as unknown as Subscription,
      isWanted: () => bells.size > 0,
      wanted,
      lookAgain() {
        for (const sourceId of bells.keys()) ring(sourceId);
      },
    },
    async follow(sourceId, afterId, options, sink) {
      const bell = createBell(clock);
      const own = bells.get(sourceId) ?? new Set();
      bells.set(sourceId, own.add(bell.ring));
      wanted.ring();
      let fromMs = clock.now();
      if (afterId !== undefined) fromMs = Math.min(fromMs, timeOf(afterId) ?? fromMs) - limits.tailOverlapMs;
      const sent = new Map<string, number>(); // of what is looked at again
      try {
        while (!sink.signal.aborted) {
          const settledMs = clock.now() - limits.tailOverlapMs;
          const walk = { fromMs, oldestFirst: true, pageItems: limits.tailItems };
          for await (const one of walkEvents(store, sourceId, walk)) {
            if (sent.has(one.eventId)) continue;
            await sink.ready();
            if (sink.signal.aborted) return;
            sink.send({ id: one.eventId, event: 'event', data: await describe(store, one, options) });
            if (one.receivedAt >= settledMs) sent.set(one.eventId, one.receivedAt);
          }
          fromMs = Math.max(fromMs, settledMs);
          for (const [eventId, receivedAt] of sent) if (receivedAt < fromMs) sent.delete(eventId);
          await bell.wait(limits.tailPollMs, sink.signal);
        }
      } finally {
        own.delete(bell.ring);
        if (own.size === 0) bells.delete(sourceId);
      }
    },
  };
}

async function describe(store: Store, one: Event, { payload, show }: TailOptions): Promise<object> {
  const shown = show(one);
  if (!payload) return shown;
  const request = await readRequest(store, one.eventId);
  return {
    ...shown,
    headers: request?.headers ?? [],
    body: request ? Buffer.from(request.body).toString('base64') : '',
  };
}
