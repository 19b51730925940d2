import { createEngine } from '@stak/engine';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { createStore, createTables, defineQuery, defineTable, entity } from '../src/index.ts';

// A task and what belongs to it, in the order of their keys: after the task's id they go on differently.
const board = defineTable({ name: 'board', keys: { partition: 'pk', sort: 'sk' } });
const task = entity(board, {
  name: 'task',
  schema: z.object({ list: z.string(), id: z.string() }),
  key: { partition: 'L#{list}', sort: 'T#{id:text}' },
});
const comment = entity(board, {
  name: 'comment',
  schema: z.object({ list: z.string(), id: z.string(), at: z.number() }),
  key: { partition: 'L#{list}', sort: 'T#{id:text}#C#{at:3}' },
});
const taskWithComments = defineQuery('a task with its comments', { of: [task, comment] });

async function openBoard() {
  const engine = await createEngine({ path: ':memory:', sweepIntervalMs: 0 });
  await createTables(engine, [board]);
  const store = createStore({ client: engine.client });
  for (const id of ['a', 'a b', 'ab', 'b']) {
    await store.put(task, { list: 'home', id });
    for (const at of [1, 2]) await store.put(comment, { list: 'home', id, at });
  }
  return { engine, store };
}

it('distinguishes a key from longer ones that begin with it, page after page', async () => {
  const { engine, store } = await openBoard();
  for (const id of ['a', 'a b', 'ab', 'b']) {
    for (const limit of [1, 2, 50]) {
      const found: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await store.query(taskWithComments, { list: 'home', id }, { limit, cursor });
        found.push(...page.items.map(({ entity, item }) => `${entity} ${item.id}`));
        cursor = page.cursor;
      } while (cursor);
      expect(found).toEqual([`task ${id}`, `comment ${id}`, `comment ${id}`]);
    }
  }
  const everything = await store.query(taskWithComments, { list: 'home' });
  expect(everything.items).toHaveLength(12);
  await engine.close();
});

it('refuses a bound that it could not keep', async () => {
  const { engine, store } = await openBoard();
  const read = store.query(taskWithComments, { list: 'home' }, { from: { id: 'a' }, to: { id: 'ab' } });
  await expect(read).rejects.toThrow('id cannot be a bound: keys of this query differ after it');
  await engine.close();
});
