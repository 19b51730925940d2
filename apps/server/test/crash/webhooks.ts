import type { Random } from '@stak/kit';
import type { Load } from './campaign.ts';
import { openReceivers } from './receivers.ts';
import { type Asked, ask, askAgain, type CrashServer, make, signUp } from './server.ts';
import { countDuplicates, type Evidence, type Stored, successesOf, verify } from './verification.ts';

const connections = 3;
const settledWithinMs = 90_000; // retries included
const openStatuses = ['received', 'processing', 'retrying'];
const inOrder = 2; // this connection

type Options = Pick<Evidence, 'wasStoreSlow'> & {
  token?: string; // of whose they are
  pauseMs?: number; // between two events of a sender
  mostBehind?: number; // how many events the connection in order may be behind before the sender waits
};

export async function prepareWebhooks(
  server: Asked & Pick<CrashServer, 'killed'>,
  random: Random,
  options: Options = {},
): Promise<Load> {
  const token = options.token ?? (await signUp(server));
  const receivers = await openReceivers(connections, random);
  const { sourceId } = await make(server, '/v1/sources', { send: { name: 'Crash' }, token });
  for (const [i, destinationUrl] of receivers.urls.entries())
    await make(server, `/v1/sources/${sourceId}/connections`, {
      // One of them in order. Retries come quickly, or a round would be over before the first.
      send: {
        name: `${i}`,
        destinationUrl,
        ordered: i === inOrder,
        retryConfig: { delaysS: [1, 1, 2, 2, 3, 3, 5] },
      },
      token,
    });
  const acknowledged = new Set<string>();

  async function* listEvents(filter = '') {
    let cursor = '';
    for (;;) {
      const path = `/v1/sources/${sourceId}/events?limit=100${filter}${cursor}`;
      const { json } = await askAgain(server, path, { token });
      yield* json.data as { eventId: string; status: string }[];
      if (json.next_cursor === null) return;
      cursor = `&cursor=${encodeURIComponent(String(json.next_cursor))}`;
    }
  }

  const countOpen = async () => {
    let open = 0;
    for (const status of openStatuses) for await (const _ of listEvents(`&status=${status}`)) open += 1;
    return open;
  };

  async function readAll(): Promise<Map<string, Stored>> {
    const ids: string[] = [];
    for await (const { eventId } of listEvents()) ids.push(eventId);
    const stored = new Map<string, Stored>();
    const read = async () => {
      for (let id = ids.pop(); id !== undefined; id = ids.pop())
        stored.set(id, (await askAgain(server, `/v1/events/${id}`, { token })).json as Stored);
    };
    await Promise.all(Array.from({ length: 8 }, read));
    return stored;
  }

  const { mostBehind = Number.POSITIVE_INFINITY } = options;
  const countBehind = () => acknowledged.size - successesOf(receivers.arrivals[inOrder]!).size;

  return {
    acknowledged: () => acknowledged.size,
    async send(isOver) {
      while (!isOver()) {
        if (countBehind() > mostBehind) {
          await new Promise(resolve => setTimeout(resolve, 100));
          continue;
        }
        const answer = await ask(server, `/in/${sourceId}`, { body: '{"hello":"world"}' });
        const isAcknowledged = answer?.status === 200;
        if (isAcknowledged) acknowledged.add(String(answer.json.eventId));
        const { pauseMs = isAcknowledged ? 0 : 20 } = options;
        if (pauseMs > 0) await new Promise(resolve => setTimeout(resolve, pauseMs));
      }
    },
    async verify() {
      receivers.state.failureShare = 0;
      const beganMs = Date.now();
      let open = await countOpen();
      while (open > 0 && Date.now() - beganMs < settledWithinMs) {
        await new Promise(resolve => setTimeout(resolve, 250));
        open = await countOpen();
      }
      const settledMs = Date.now() - beganMs;
      const stored = await readAll();
      const kills = server.killed.map(({ atMs }) => atMs);
      const { arrivals } = receivers;
      const delivered = arrivals.flat().filter(one => one.status === 200).length;
      return {
        violations: [
          ...(open > 0 ? [`${open} events were not settled in time`] : []),
          ...verify({ acknowledged, stored, arrivals, kills, wasStoreSlow: options.wasStoreSlow }),
        ],
        summary:
          `${acknowledged.size} acknowledged, ${delivered} delivered, ` +
          `${countDuplicates(arrivals)} twice (in flight at a kill, same id), settled after ${settledMs} ms`,
      };
    },
    close: receivers.close,
  };
}
