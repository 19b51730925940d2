import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  expectMirrored,
  type House,
  isMirrored,
  mirroring,
  openHouse,
  startConsumer,
  until,
  writeNotes,
} from './stream-fixture.ts';

let house: House;

beforeEach(async () => {
  house = await openHouse();
});
afterEach(() => house.engine.close());

test('handles what was there before it and what comes after', async () => {
  await writeNotes(house, ['a', 'b'], 3);
  const consumer = startConsumer(house, { subscription: mirroring(house) });
  await until(house.clock, () => isMirrored(house));
  await writeNotes(house, ['a', 'c'], 2);
  await until(house.clock, () => isMirrored(house));
  await consumer.stop();
  await expectMirrored(house);
  expect(consumer.counters()).toMatchObject({ records: 10, retries: 0, failures: 0, leasesLost: 0 });
});
