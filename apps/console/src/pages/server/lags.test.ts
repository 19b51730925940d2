import { expect, test } from 'vitest';
import { lagsOf } from './lags.ts';

const done = { lag_ms: 0, caught_up: true };
const late = (lag_ms: number) => ({ lag_ms, caught_up: false });

test('the lag of a table is that of its slowest follower; the lake reports its own', () => {
  const streams = [
    { consumer: 'inbox-reads', table: 'inbox', ...done },
    { consumer: 'inbox-reads', table: 'inbox', ...late(7_000) },
    { consumer: 'lake-inbox', table: 'inbox', ...late(90_000) },
    { consumer: 'lake-tenants', table: 'tenants', ...done },
  ];
  const lake = [
    { table: 'inbox', ...late(1_000) },
    { table: 'tenants', ...done },
  ];
  const aside = lagsOf([{ ...streams[0]!, caught_up: false, set_aside: true }], [], []);
  expect(aside).toMatchObject([{ effects: { caught_up: false, set_aside: true } }]);
  expect(lagsOf(streams, lake, ['http', 'inbox'])).toMatchObject([
    { table: 'http', effects: undefined, lake: undefined },
    { table: 'inbox', effects: late(7_000), lake: late(1_000) },
    { table: 'tenants', effects: undefined, lake: done },
  ]);
});
