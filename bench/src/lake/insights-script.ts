import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock, systemClock } from '@stak/kit';
import type { Attributes } from '@stak/table';
import type { Contestant } from '../contestant.ts';
import { openLake, tableName } from './lake.ts';

// The lake between two compactions: some changes have arrived since the last one, and more are arriving. The clock is a
// few minutes ahead, because right after a backfill results are computed from all rows: the scan and the stream may
// have seen the same change.
const later: Clock = { ...systemClock, now: () => systemClock.now() + 5 * 60_000 };

const changeEveryMs = 200;

export async function start({ folder, changes }: { folder: string; changes: number }): Promise<Contestant> {
  const lake = await openLake(folder, later);
  const { client, capture, status, readInsight } = lake;
  const stopping = new AbortController();
  const captured = capture.run(stopping.signal);
  const { Items = [] } = await client.scan({ TableName: tableName, Limit: changes });
  const change = (item: Attributes) =>
    client.put({ TableName: tableName, Item: { ...item, updated_at: Date.now() } });
  for (const item of Items) await change(item);
  while (!(await status()).caught_up) await sleep(100);
  const trickle = setInterval(() => void change(Items[0]!), changeEveryMs);
  return {
    operations: {
      page: async () => {
        const { LastEvaluatedKey } = await client.scan({ TableName: tableName });
        if (!LastEvaluatedKey) throw new Error('the table has only one page');
      },
      insight: async () => {
        if ((await readInsight()) === 0) throw new Error('there are no tasks');
      },
    },
    async close() {
      clearInterval(trickle);
      stopping.abort();
      await captured;
      await lake.close();
    },
  };
}
