import { createEngine } from '@stak/engine';
import { createApi, unguarded } from '@stak/http';
import { createLogger, systemClock } from '@stak/kit';
import { streamsTable } from '@stak/streams';
import { createTables } from '@stak/table';
import { expect, it, onTestFinished } from 'vitest';
import { readinessChecks } from '../src/process/readiness.ts';

const inMemory = { kind: 'embedded', path: ':memory:' } as never;

// A server whose consumers have records aside or have lost some, and whose lake waits before it goes on.
async function openServer(letters: () => Promise<string[]>, missed: string[] = [], status = 'running') {
  const engine = await createEngine({ path: ':memory:', sweepIntervalMs: 0 });
  onTestFinished(() => engine.close());
  await createTables(engine, [streamsTable]);
  const { app } = createApi({
    info: { title: 'Stak', version: '1' },
    endpoints: [],
    guards: unguarded,
    authenticate: async () => undefined,
    clock: systemClock,
    log: createLogger({ level: 'silent' }),
    ...readinessChecks(
      { client: engine.client } as never,
      { store: inMemory },
      {
        clock: systemClock,
        streams: { letters: { read: letters }, missed: { read: async () => missed } },
        lake: { workers: () => [{ status }] as never },
      },
    ),
  });
  const ready = async () => {
    const answer = await app.request('/readyz');
    return [answer.status, ((await answer.json()) as { checks: object }).checks];
  };
  return { engine, ready };
}

it('a server whose consumers and lake have trouble stays ready, and says so', async () => {
  const sound = { store: 'ok', dead_letters: 'ok', missed_changes: 'ok', lake: 'ok' };
  const { ready } = await openServer(async () => []);
  expect(await ready()).toEqual([200, sound]);
  const failing = await openServer(async () => ['webhooks-counts'], ['storage'], 'backing-off');
  const degraded = { dead_letters: 'degraded', missed_changes: 'degraded', lake: 'degraded' };
  expect(await failing.ready()).toEqual([200, { ...sound, ...degraded }]);
  const unread = await openServer(() => Promise.reject(new Error('too slow')));
  expect(await unread.ready()).toEqual([200, { ...sound, dead_letters: 'degraded' }]);
});

it('a server whose store is gone is not ready', async () => {
  const { engine, ready } = await openServer(async () => []);
  await engine.close();
  expect(await ready()).toMatchObject([503, { store: 'failed' }]);
});
