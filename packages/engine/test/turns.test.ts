import { expect, it } from 'vitest';
import { createEngine } from '../src/index.ts';
import { hashTable } from './engine-fixture.ts';

it('lets timers have their turn, however eagerly somebody reads', async () => {
  const engine = await createEngine({ path: ':memory:', sweepIntervalMs: 0 });
  await engine.execute('CreateTable', hashTable('things'));
  let isOver = false;
  setTimeout(() => {
    isOver = true;
  }, 1);
  let reads = 0;
  while (!isOver && reads < 1_000_000) {
    await engine.client.get({ TableName: 'things', Key: { pk: 'none' } });
    reads += 1;
  }
  expect(isOver).toBe(true);
  await engine.close();
});
