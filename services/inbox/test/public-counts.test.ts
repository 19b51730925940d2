import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { publicCategoryStats, publicStats } from '../src/table.ts';
import { startConsumers } from './consumers.ts';
import { hello, main, type Office, openOffice } from './office.ts';

let office: Office;
beforeEach(async () => {
  office = await openOffice();
  await office.ask('PUT', 'main', { send: main });
});
afterEach(() => office.close());

const place = { tenant_key: 'acme', inbox_key: 'main' };
const broadcast = async (category: string, ttl: string) =>
  (await office.ask('POST', 'main/broadcasts', { send: { ...hello, taxonomy: { category }, ttl } })).body.id;
const storedOf = async (category: string) =>
  (await office.store.get(publicCategoryStats, { ...place, category }))?.published ?? 0;

describe('what is stored of messages to everyone', () => {
  it('leaves a category when its message expires, also if another was sent before the sweep', async () => {
    await broadcast('flash', '6s');
    await office.clock.advance(7000);
    await broadcast('news', '1h');
    expect([await storedOf('flash'), await storedOf('news')]).toEqual([0, 1]);
  });

  it('follows the sweep where nobody has written since', async () => {
    for (const category of ['flash', 'flash', 'news']) await broadcast(category, '6s');
    await broadcast('long', '1h');
    const consumers = startConsumers(office);
    await office.clock.advance(7000);
    await office.engine.sweep();
    await consumers.until(async () => (await storedOf('flash')) + (await storedOf('news')) === 0);
    await consumers.stop();
    expect(await storedOf('long')).toBe(1);
    expect(await office.store.get(publicStats, place)).toMatchObject({ published: 1, counts: { long: 1 } });
  });

  it('is mended where it was stored wrong before heads had counts', async () => {
    await broadcast('flash', '6s');
    const { counts: _, kind: __, version, ...head } = (await office.store.get(publicStats, place))!;
    await office.store.put(publicStats, head, { ifVersion: version });
    await office.clock.advance(7000);
    await broadcast('news', '1h');
    expect([await storedOf('flash'), await storedOf('news')]).toEqual([0, 1]);
  });
});
