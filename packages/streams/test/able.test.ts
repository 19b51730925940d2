import { expect, test } from 'vitest';
import {
  expectMirrored,
  isMirrored,
  mirroring,
  openFixture,
  pass,
  startConsumer,
  until,
  writeNotes,
} from './stream-fixture.ts';

const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];

test('a process that can handle nothing leaves its share to another one, until it can again', async () => {
  const fixture = await openFixture({ shards: 4 });
  const { clock } = fixture;
  let isAble = true;
  const { handle } = mirroring(fixture);
  const failing = mirroring(fixture, {
    isAble: () => isAble,
    async handle(change, context) {
      if (!isAble) throw new Error('nothing can be written from here');
      await handle!(change, context);
    },
    attempts: Number.MAX_SAFE_INTEGER,
  });
  const first = startConsumer(fixture, { subscription: failing });
  await until(clock, () => first.shards() === 4);
  const second = startConsumer(fixture, { subscription: mirroring(fixture) });
  await until(clock, () => first.shards() === 2 && second.shards() === 2);
  isAble = false;
  await writeNotes(fixture, names, 3);
  await until(clock, () => isMirrored(fixture));
  expect([first.shards(), second.shards()]).toEqual([0, 4]);
  await pass(clock, 60_000);
  expect([first.shards(), second.shards()]).toEqual([0, 4]);

  isAble = true;
  await until(clock, () => first.shards() === 2 && second.shards() === 2);
  await writeNotes(fixture, names);
  await until(clock, () => isMirrored(fixture));
  await first.stop();
  await second.stop();
  await expectMirrored(fixture);
  await fixture.engine.close();
});
