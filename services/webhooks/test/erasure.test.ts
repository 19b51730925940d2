import { expect, it } from 'vitest';
import * as limits from '../src/limits.ts';
import { openDestination } from './destination.ts';
import { type Fixture, leap, openWebhooks, until, untilLater } from './webhooks-fixture.ts';

// All that an account can have in the tables of webhooks.
async function fill(hooks: Fixture, as: string): Promise<void> {
  const destination = await openDestination((_, response) => response.writeHead(410).end());
  const { sourceId } = await hooks.post('/v1/sources', { name: 'A source', dedupeHeader: 'X-Id' }, as);
  const connect = (name: string, settings: object) =>
    hooks.post(
      `/v1/sources/${sourceId}/connections`,
      { name, destinationUrl: destination.url, ...settings },
      as,
    );
  const { connectionId } = await connect('ordered', { ordered: true, ratePerSecond: 5 });
  await connect('gone', {});
  const eventId = await hooks.send(sourceId, '{"n":1}', { 'X-Id': 'a' });
  await untilLater(hooks.clock, async () => {
    const found = await hooks.read(`/v1/connections/${connectionId}`, { as });
    return found.status === 'disabled';
  });
  await hooks.read(`/v1/sources/${sourceId}`, { as, method: 'PATCH', send: { status: 'paused' } });
  await connect('late', {});
  await hooks.send(sourceId, '{"n":2}', { 'X-Id': 'b' }); // waits in a backlog
  await hooks.post(`/v1/sources/${sourceId}/jobs`, { q: 'needle' }, as);
  await until(async () => (await hooks.read('/v1/webhook-alerts', { as })).data.length > 0);
  expect((await hooks.read(`/v1/events/${eventId}`, { as })).deliveries).toHaveLength(2);
}

type Item = Record<string, unknown>;

async function everyItem(hooks: Fixture): Promise<Item[]> {
  const found: Item[] = [];
  for (const TableName of ['ferryhook-main', 'ferryhook-events'])
    found.push(...((await hooks.engine.client.scan({ TableName })).Items ?? []));
  return found;
}

const keyOf = ({ PK, SK }: Item): string => `${PK} ${SK}`;
const kindOf = ({ PK, SK }: Item): string => `${String(PK).split('#')[0]} ${String(SK).split('#')[0]}`;

it('an account is erased with everything that belongs to it, and no other account is', async () => {
  const hooks = await openWebhooks({ counts: true });
  await fill(hooks, 'bob');
  await leap(hooks.clock, limits.flushMs);
  const others = await everyItem(hooks);
  await fill(hooks, 'ann');
  await leap(hooks.clock, limits.flushMs);
  expect([...new Set(others.map(kindOf))].sort()).toEqual([
    'CONN POINTER',
    'COUNTED SHARD',
    'COUNTS DAY',
    'COUNTS TOTAL',
    'CREATION LAST',
    'DEDUPE EVENT',
    'EVT ATT',
    'EVT BODY',
    'EVT DLV',
    'JOBS JOB',
    'LANE Q',
    'LANE RATE',
    'LANE STATE',
    'SRC CONN',
    'SRC EVT',
    'SRC SOURCE',
    'USAGE MONTH',
    'USER ALERT',
    'USER SRC',
  ]);

  // Another server may store an event until it notices that the source is deleted.
  for (let n = 0; n < 5; n++) expect(await hooks.webhooks.eraser.eraseAccount('usr_ann')).toBe('more');
  for (let round = 0; (await hooks.webhooks.eraser.eraseAccount('usr_ann')) === 'more'; round++) {
    expect(round).toBeLessThan(20);
    await hooks.clock.advance(limits.eraseGraceMs);
  }
  const left = await everyItem(hooks);
  const otherKeys = new Set(others.map(keyOf));
  // Accounts erase their usage themselves.
  expect(new Set(left.filter(one => !otherKeys.has(keyOf(one))).map(kindOf))).toEqual(
    new Set(['USAGE MONTH']),
  );
  const leftKeys = new Set(left.map(keyOf));
  expect(others.map(keyOf).filter(key => !leftKeys.has(key))).toEqual([]);
});
