import { expect, test } from 'vitest';
import { createDuck } from '../src/duckdb/duck.ts';

// Our own jobs begin with little memory, and get more only if they need it.

const sorted = (rows: number): string =>
  `create or replace temp table sorted as
   select md5(range::varchar) as id, repeat(md5(range::varchar), 20) as image from range(${rows}) order by id`;
const limitOf = `select current_setting('memory_limit') as size`;

const duckWith = (largest?: string) =>
  createDuck({
    processes: 1,
    queue: 5,
    timeoutMs: 60_000,
    memory: { limit: '16MB', ...(largest !== undefined && { largest }), rssBytes: 1024 ** 3 },
  });

test('a job that fails for lack of memory is run again with more', async () => {
  const duck = duckWith('512MB');
  try {
    const counted = await duck.run({ prepare: [sorted(50_000)], sql: 'select count(*) from sorted' });
    expect(counted.rows).toEqual([[50_000]]);
    // The table was its connection's, and the next job has the first limit.
    const { rows } = await duck.run({ prepare: [], sql: limitOf });
    expect(rows).toEqual([['15.2 MiB']]);
  } finally {
    duck.close();
  }
}, 60_000);

test('without a larger limit it fails, and so does one that needs more than that', async () => {
  for (const duck of [duckWith(), duckWith('20MB')]) {
    try {
      const job = { prepare: [sorted(50_000)], sql: 'select count(*) from sorted' };
      await expect(duck.run(job)).rejects.toThrow('Out of Memory');
    } finally {
      duck.close();
    }
  }
}, 60_000);

test('a query of a caller is not run again', async () => {
  const duck = duckWith('512MB');
  try {
    const sql = `select count(distinct repeat(md5(range::varchar), 20)) from range(200000)`;
    await expect(duck.run({ prepare: [], sql, isUntrusted: true })).rejects.toMatchObject({
      code: 'lake.query_too_large',
    });
  } finally {
    duck.close();
  }
}, 60_000);
