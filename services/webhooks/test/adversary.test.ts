import { setImmediate } from 'node:timers/promises';
import { type ManualClock, manualClock, seededRandom } from '@stak/kit';
import { createCursors, createStore } from '@stak/table';
import { createAdversary, passingFaults } from '@stak/table/adversary';
import { describe, expect, it } from 'vitest';
import { type Answer, openDestination } from './destination.ts';
import { openTables, startWebhooks } from './webhooks-fixture.ts';

const events = 12;
const stepMs = 1000;
const patienceMs = 100_000; // of a busy machine; a second on a quiet one

// Two processes whose clocks are a second apart, on a store that fails in every way that passes and whose indexes answer
// as they did a moment ago. The destination refuses the first attempts of some events.
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
    return startWebhooks({ clock: own, store, random }, adversary, engine);
  };
  const processes = [await start(0), await start(seed % 2 === 0 ? 1000 : -1000)] as const;
  const refusals = seededRandom(seed);
  const left = new Map<string, number>();
  const answers: Answer = (hit, response) => {
    const text = hit.body.toString();
    const more = left.get(text) ?? Math.floor(3 * refusals());
    left.set(text, more - 1);
    response.writeHead(more > 0 ? 500 : 200).end();
  };
  return { clock, adversary, processes, destination: await openDestination(answers) };
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
    'deliver every event that either accepted, on a store that fails, seed %i',
    { timeout: 2 * patienceMs },
    async seed => {
      const { clock, adversary, processes, destination } = await openPair(seed);
      const [one, other] = processes;
      const sourceId = await again(() => one.source());
      const settings = { retryConfig: { delaysS: [5, 10, 20, 40, 40, 40] } };
      await again(() => one.connect(sourceId, destination.url, settings));
      const accepted: string[] = [];
      for (let n = 0; n < events; n++) {
        accepted.push(await again(() => processes[n % 2]!.send(sourceId, JSON.stringify({ n }))));
        if (n % 4 === 3) await clock.advance(stepMs);
      }
      const isDelivered = async (eventId: string) =>
        (await again(() => other.read(`/v1/events/${eventId}`))).status === 'delivered';
      const startedMs = performance.now();
      for (const eventId of accepted)
        while (!(await isDelivered(eventId))) {
          if (performance.now() - startedMs > patienceMs) throw new Error(`${eventId} was not delivered`);
          await clock.advance(stepMs);
        }
      const hits = destination.hits.map(hit => hit.headers['webhook-id']);
      for (const eventId of accepted) expect(hits).toContain(eventId);
      const { throttled, staleIndexes } = adversary.counts;
      expect([throttled, staleIndexes]).not.toContain(0);
    },
  );
});
