import { createEngine } from '@stak/engine';
import { manualClock } from '@stak/kit';
import { expect, onTestFinished, test } from 'vitest';
import { type ControlPlane, createTables, defineTable } from '../src/index.ts';

const notes = defineTable({ name: 'notes', keys: { partition: 'pk' } });

async function open() {
  const engine = await createEngine({ path: ':memory:' });
  onTestFinished(() => engine.close());
  return engine;
}

const enabled = async (control: ControlPlane) => {
  const answer = await control.execute('DescribeContinuousBackups', { TableName: 'notes' });
  return JSON.stringify(answer).includes('"PointInTimeRecoveryStatus":"ENABLED"');
};

// A store whose answers to one operation are others, until there are none left.
function answering(control: ControlPlane, operation: string, names: string[]): ControlPlane {
  return {
    execute(asked, input) {
      const name = asked === operation ? names.shift() : undefined;
      return name === undefined
        ? control.execute(asked, input)
        : Promise.reject(Object.assign(new Error('not here'), { name }));
    },
  };
}

test('point-in-time recovery is enabled on request, once, and reported', async () => {
  const engine = await open();
  expect(await createTables(engine, [notes])).toEqual([{ table: 'notes', done: ['create the table'] }]);
  expect(await enabled(engine)).toBe(false);
  const recovery = true;
  expect(await createTables(engine, [notes], { recovery })).toEqual([
    { table: 'notes', done: ['enable point-in-time recovery'] },
  ]);
  expect(await enabled(engine)).toBe(true);
  expect(await createTables(engine, [notes], { recovery })).toEqual([{ table: 'notes', done: [] }]);
});

test.each(['UnknownOperationException', 'AccessDeniedException', 'NotImplementedException'])(
  'a store that responds %s still gets its tables, which is reported',
  async name => {
    const control = answering(await open(), 'DescribeContinuousBackups', [name]);
    expect(await createTables(control, [notes], { recovery: true })).toEqual([
      { table: 'notes', done: ['create the table', 'no point-in-time recovery: not here'] },
    ]);
  },
);

test('a new table is retried, and other failures stop it', async () => {
  const engine = await open();
  const clock = manualClock();
  const unavailable = Array.from({ length: 3 }, () => 'ContinuousBackupsUnavailableException');
  const control = answering(engine, 'UpdateContinuousBackups', unavailable);
  const created = createTables(control, [notes], { recovery: true, clock });
  while (unavailable.length > 0) await clock.advance(500);
  await clock.advance(500);
  expect((await created)[0]!.done).toContain('enable point-in-time recovery');
  const failing = answering(engine, 'DescribeContinuousBackups', ['InternalServerError']);
  await expect(createTables(failing, [notes], { recovery: true })).rejects.toThrow('not here');
});
