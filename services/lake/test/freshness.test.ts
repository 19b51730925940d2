import { seededRandom } from '@stak/kit';
import { createConsumer } from '@stak/streams';
import { write } from '@stak/table';
import { expect, test } from 'vitest';
import { errand, newErrand } from './errands.ts';
import { expectEveryChangeOnce, readState } from './evidence.ts';
import { ann, capture, openHouse, openLake, silent, until } from './lake-fixture.ts';

test('a change is in an insight’s answer within five seconds', async () => {
  const house = await openHouse();
  const { store, clock, source, client } = house;
  const lake = openLake(house);
  const stopping = new AbortController();
  const [subscription] = lake.subscriptions;
  const random = seededRandom(1);
  const consumer = createConsumer({
    subscription: subscription!,
    source,
    client,
    clock,
    random,
    log: silent,
  });
  const ended = consumer.run(stopping.signal);
  for (let i = 1; i <= 6; i++) {
    const writtenAt = clock.now();
    await store.put(errand, newErrand('usr_ann', `${i}`));
    const isThere = async () => {
      const { data } = await lake.insight(ann, 'tasks-by-status', 30);
      return data[0]?.tasks === i;
    };
    await until(house, isThere, 100);
    expect(clock.now() - writtenAt).toBeLessThan(5000);
  }
  stopping.abort();
  await ended;
});

test('changes that come close together share a file', async () => {
  const house = await openHouse();
  const lake = openLake(house);
  const steps = Array.from({ length: 2500 }, (_, i) => write.put(errand, newErrand('usr_ann', `${i}`)));
  await house.store.batchWrite(steps);
  await capture(house, lake);
  // A page of GetRecords is the most that is ever held.
  const files = [...(await readState(house)).files.values()];
  expect(files.length).toBeLessThanOrEqual(4);
  expect(Math.max(...files.map(file => file.rows))).toBeLessThanOrEqual(1000);
  await expectEveryChangeOnce(house);
});
