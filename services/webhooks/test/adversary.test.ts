import { setImmediate } from 'node:timers/promises';
import { type ManualClock, manualClock, seededRandom } from '@stak/kit';
import { createCursors, createStore } from '@stak/table';
import { createAdversary, passingFaults } from '@stak/table/adversary';
import { describe, expect, it } from 'vitest';
import { delivery, event, eventKey } from '../src/tables.ts';
import { type Answer, openDestination } from './destination.ts';
import { openTables, pause, startWebhooks } from './webhooks-fixture.ts';

const events = process.env.STAK_LONG_TESTS ? 16 : 8;
const stepMs = 250; // a lease takes many steps: what happens in real time is never overtaken by it
const patienceMs = 100_000; // of a busy machine; a second on a quiet one

// Two processes whose clocks are a second apart, on a store that fails in every way that passes and whose indexes answer
// as they did a moment ago. The destinations refuse the first attempts of some events. Nobody is killed, so nothing may
// be delivered twice: DynamoDB's failures alone are no reason to repeat a request.
async function openPair(seed: number) {
  const clock = manualClock();
  const { engine, client } = await openTables('embedded', clock);
  const faults = { ...passingFaults, staleIndexes: 0.3, clock };
  const adversary = createAdversary(client, { ...faults, random: seededRandom(seed) });
  const start = (offsetMs: number) => {
    const now = () => clock.now() + offsetMs;
    const own: ManualClock = { ...clock, now };
    const restless = { now, sleep: async () => void (await setImmediate()) }; // the store sleeps before it retries
    const random = seededRandom(seed + offsetMs);
    const store = createStore({
      client: adversary,
      clock: restless,
      random,
      cursors: createCursors('a secret'),
    });
    return startWebhooks({ clock: own, store, random, counts: true }, adversary, engine);
  };
  const processes = [await start(0), await start(seed % 2 === 0 ? 1000 : -1000)] as const;
  const refusals = seededRandom(seed);
  const open = async () => {
    const left = new Map<string, number>();
    const attempts = new Map<string, number>(); // that the destination means to see
    const answers: Answer = (hit, response) => {
      const text = hit.body.toString();
      const more = left.get(text) ?? Math.floor(3 * refusals());
      if (!left.has(text)) attempts.set(String(hit.headers['webhook-id']), Math.max(more, 0) + 1);
      left.set(text, more - 1);
      response.writeHead(more > 0 ? 500 : 200).end();
    };
    return { ...(await openDestination(answers)), attempts };
  };
  const destinations = [await open(), await open(), await open()] as const;
  return { clock, client, adversary, processes, destinations };
}

// As a sender or a console does: what is refused for a moment is sent again.
async function again<Output>(attempt: () => Promise<Output>): Promise<Output> {
  for (let left = 20; ; left--)
    try {
      return await attempt();
    } catch (error) {
      if (left === 0) throw error;
    }
}

describe('two processes', () => {
  const first = Number(process.env.STAK_ADVERSARY_SEED) || 1;
  it.each([first, first + 1])(
    'deliver every event that either accepted once to each destination, and count it once, on a store that fails, seed %i',
    { timeout: 2 * patienceMs },
    async seed => {
      const { clock, client, adversary, processes, destinations } = await openPair(seed);
      const [one, other] = processes;
      const sourceId = await again(() => one.source());
      const settings = { retryConfig: { delaysS: [5, 10, 20, 40, 40, 40] } };
      const connections: string[] = [];
      for (const [i, { url }] of destinations.entries())
        connections.push(await again(() => one.connect(sourceId, url, { ...settings, ordered: i === 2 })));
      // Long enough for both to know all connections.
      await clock.advance(60_000);
      const accepted: string[] = [];
      for (let n = 0; n < events; n++) {
        accepted.push(await again(() => processes[n % 2]!.send(sourceId, JSON.stringify({ n }))));
        if (n % 4 === 3) await clock.advance(stepMs);
      }
      const startedMs = performance.now();
      const come = async (isSo: () => Promise<boolean>, what: string) => {
        while (!(await again(isSo))) {
          if (performance.now() - startedMs > patienceMs) throw new Error(`${what} did not come about`);
          await pause();
          await clock.advance(stepMs);
        }
      };
      for (const eventId of accepted)
        await come(
          async () => (await other.read(`/v1/events/${eventId}`)).status === 'delivered',
          `the delivery of ${eventId}`,
        );

      // Each destination has seen each event as often as it wanted to, and no other.
      for (const { hits, attempts } of destinations) {
        const seen = new Map<string, number>();
        for (const { headers } of hits) {
          const id = String(headers['webhook-id']);
          seen.set(id, (seen.get(id) ?? 0) + 1);
        }
        expect(new Set(seen.keys())).toEqual(new Set(accepted));
        expect(seen).toEqual(attempts);
      }

      // What is stored says so: each delivery, its attempts, and the event.
      const store = createStore({ client, clock });
      for (const eventId of accepted)
        for (const [i, connectionId] of connections.entries()) {
          const key = { eventId, connectionId, run: 0 };
          const attempts = destinations[i]!.attempts.get(eventId)!;
          const stored = (await store.get(delivery, key, { consistent: true }))!;
          expect(stored).toMatchObject({ state: 'delivered', attempts });
          expect([stored.owner, stored.dueIn, stored.dueAt]).toEqual([undefined, undefined, undefined]);
          const of = await store.get(event, eventKey(stored), { consistent: true });
          expect(of!.deliveries[connectionId]).toMatchObject({ state: 'delivered', attempts });
        }

      // Every count against what was sent.
      const total = events;
      await come(async () => (await one.usage('usr_ann')) >= total, 'the count of usage');
      await come(
        async () => (await one.read('/v1/webhook-analytics')).statuses.delivered >= total,
        'the count of what was delivered',
      );
      await clock.advance(5000);
      expect(await one.usage('usr_ann')).toBe(total);
      expect(await again(() => one.read('/v1/webhook-analytics'))).toMatchObject({
        received: total,
        statuses: { delivered: total, received: 0 },
      });
      expect(await again(() => one.read(`/v1/sources/${sourceId}`))).toMatchObject({ eventCount: total });
      const { throttled, staleIndexes, lostAnswers } = adversary.counts;
      expect([throttled, staleIndexes, lostAnswers]).not.toContain(0);
    },
  );
});
