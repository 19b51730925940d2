import type { Clock } from '@stak/kit';
import { streamsTable } from '@stak/streams';
import { type DynamoClient, isUnavailable, withDeadline } from '@stak/table';

const freshMs = 1_000; // probes of several load balancers share one read
const attempts = 3; // one that is throttled says nothing yet
const pauseMs = 100;
const deadlineMs = 1_500; // a probe waits two seconds

// Whether the store answers: one key that nobody writes, half a unit a second at most. The control plane is left alone,
// because its limits are low and it says nothing about the tables.
export function storeCheck(
  client: Pick<DynamoClient, 'get'>,
  clock: Pick<Clock, 'now' | 'sleep'>,
): () => Promise<void> {
  const { partition, sort } = streamsTable.keys;
  const input = { TableName: streamsTable.name, Key: { [partition]: 'ready', [sort!]: 'ready' } };
  let latest: { atMs: number; answer: Promise<void> } | undefined;

  async function look(): Promise<void> {
    for (let left = attempts; ; left--)
      try {
        return void (await client.get(input));
      } catch (error) {
        if (left === 1 || !isUnavailable(error)) throw error;
        await clock.sleep(pauseMs);
      }
  }

  return () => {
    if (!latest || clock.now() - latest.atMs >= freshMs) {
      latest = { atMs: clock.now(), answer: withDeadline(deadlineMs, look) };
      latest.answer.catch(() => {});
    }
    return latest.answer;
  };
}
