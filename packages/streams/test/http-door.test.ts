import { createHttpServer, type HttpServer } from '@stak/engine';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { awsSource } from '../src/aws-source.ts';
import {
  everyone,
  expectMirrored,
  type House,
  isMirrored,
  mirroring,
  note,
  openHouse,
  startConsumer,
  until,
  writeNotes,
} from './stream-fixture.ts';

// The same consumer through the AWS SDK and the engine's HTTP door: nobody wakes it, so it polls.

let house: House;
let server: HttpServer;
let source: ReturnType<typeof awsSource>;

beforeEach(async () => {
  house = await openHouse({ shards: 2 });
  server = createHttpServer(house.engine, { port: 0 });
  const { url } = await server.listen();
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
  source = house.paced(awsSource({ region: 'us-east-1', endpoint: url, credentials }));
});
afterEach(async () => {
  source.close();
  await server.close();
  await house.engine.close();
});

test('it handles everything through shards that close, and goes on after its checkpoint', async () => {
  const names = ['a', 'b', 'c'];
  await writeNotes(house, names, 3);
  const start = () => startConsumer(house, { subscription: mirroring(house, { batchRecords: 2 }), source });
  const first = start();
  await until(house.clock, () => isMirrored(house));
  await house.engine.rollShards('notes');
  await writeNotes(house, names, 2);
  await until(house.clock, () => isMirrored(house));
  await first.stop();
  await writeNotes(house, names);
  const others = [start(), start()];
  await until(house.clock, () => isMirrored(house));
  await everyone(others);
  await expectMirrored(house);
  expect([first, ...others].map(consumer => consumer.counters().failures)).toEqual([0, 0, 0]);
});

test('errors of the SDK are understood: expired iterators and trimmed records', async () => {
  await writeNotes(house, ['a'], 1);
  const first = startConsumer(house, { subscription: mirroring(house), source });
  await until(house.clock, () => isMirrored(house));
  await until(house.clock, async () => {
    const { shards } = await first.status();
    return shards.every(({ behind }) => behind?.records === 0);
  });
  await first.stop();
  await house.store.put(note, { id: 'a', version: 99 });
  await house.clock.advance(25 * 60 * 60_000);
  await house.engine.sweep();
  const second = startConsumer(house, { subscription: mirroring(house), source });
  await until(house.clock, () => second.alarms.length > 0);
  await second.stop();
  expect(second.alarms).toMatchObject([{ kind: 'trimmed' }]);
});
