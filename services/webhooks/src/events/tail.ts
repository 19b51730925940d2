import type { EventSink } from '@stak/http';
import { createHub, timeOf } from '@stak/kit';
import { type FollowerOptions, type Subscription, subscribe } from '@stak/streams';
import type { Store } from '@stak/table';
import { readRequest } from '../delivery/payload.ts';
import type { BaseDeps } from '../deps.ts';
import * as limits from '../limits.ts';
import type { EventView } from '../schema.ts';
import { type Event, event, ferryhookEvents } from '../tables.ts';
import { walkEvents } from './list.ts';

export type Tail = {
  // Called for every event that this process stores. Events of other processes come through the table's stream, or are
  // found by polling.
  notify(sourceId: string): void;
  follower: FollowerOptions;
  follow(sourceId: string, afterId: string | undefined, options: TailOptions, sink: EventSink): Promise<void>;
};
type TailOptions = { payload: boolean; show(event: Event): EventView };

// Sends new events of a source to live views. A write may become visible a little after its own timestamp, so the last
// seconds are read again each time, and sent again after a reconnection: each event at least once, with the same id.
export function createTail({ store, clock }: BaseDeps): Tail {
  const hub = createHub(clock); // by source

  return {
    notify: hub.notify,
    follower: {
      subscription: subscribe({
        name: 'webhooks-live',
        table: ferryhookEvents,
        entities: [event],
        handle(change) {
          if (change.kind === 'insert') hub.notify(change.new.sourceId);
        },
      }) as unknown as Subscription,
      hasListeners: () => hub.subscribers() > 0,
      listenerAdded: hub.subscribed,
      onMissed: hub.notifyAll,
    },
    async follow(sourceId, afterId, options, sink) {
      const subscriber = hub.subscribe([sourceId]);
      let fromMs = clock.now();
      if (afterId !== undefined) fromMs = Math.min(fromMs, timeOf(afterId) ?? fromMs) - limits.tailOverlapMs;
      const sent = new Map<string, number>(); // among those that are read again
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
          await subscriber.wait(limits.tailPollMs, sink.signal);
        }
      } finally {
        subscriber.close();
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
