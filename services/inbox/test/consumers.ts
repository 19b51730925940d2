import { createLogger, superviseWorkers, systemClock } from '@stak/kit';
import { createConsumer, createFollower, engineSource } from '@stak/streams';
import type { TestServer } from './test-server.ts';

// Longer than any test: a consumer that gets a shard back finds its place by the time, which in the engine stands still.
const leaseMs = 10 * 60_000;

// Runs the consumers and followers of an inbox, as a server does, until `stop` is called.
export function startConsumers({ engine, inbox }: TestServer) {
  const log = createLogger({ level: 'silent' });
  const clock = systemClock;
  const source = engineSource(engine);
  const supervisor = superviseWorkers(
    [
      ...inbox.subscriptions.map(subscription =>
        createConsumer({ subscription, source, client: engine.client, log, leaseMs }),
      ),
      ...inbox.followers.map(follower => createFollower(follower, { source, clock, log })),
    ],
    { clock, log },
  );
  return {
    stop: () => supervisor.stop(),
    // Looks again and again until it is so.
    async until(isSo: () => Promise<boolean>): Promise<void> {
      while (!(await isSo())) await systemClock.sleep(1);
    },
  };
}

export type SeenEvent = { id?: string; event: string; data: Record<string, unknown> };

// Events of a stream as they come.
export function readEvents(response: Response) {
  const reader = response.body!.getReader();
  const decoder = new TextDecoder();
  let text = '';
  const next = async (): Promise<SeenEvent> => {
    for (;;) {
      const end = text.indexOf('\n\n');
      if (end >= 0) {
        const lines = text.slice(0, end).split('\n');
        text = text.slice(end + 2);
        const field = (name: string) =>
          lines.find(line => line.startsWith(`${name}: `))?.slice(name.length + 2);
        const data = field('data');
        if (data !== undefined) return { id: field('id'), event: field('event')!, data: JSON.parse(data) };
      } else {
        const { value, done } = await reader.read();
        if (done) throw new Error('the stream has ended');
        text += decoder.decode(value, { stream: true });
      }
    }
  };
  const take = async (count: number): Promise<SeenEvent[]> => {
    const events: SeenEvent[] = [];
    while (events.length < count) events.push(await next());
    return events;
  };
  return { next, take, close: () => reader.cancel() };
}
