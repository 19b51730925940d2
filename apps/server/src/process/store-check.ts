import type { Clock, Logger } from '@stak/kit';
import { streamsTable } from '@stak/streams';
import { type DynamoClient, isUnavailable, withDeadline } from '@stak/table';
import { UsageError } from '../config/errors.ts';

const freshMs = 1_000; // probes of several load balancers share one read
const attempts = 3; // a single throttled read is not a failure
const pauseMs = 100;
const deadlineMs = 1_500; // a probe waits two seconds
const leastBytes = 16 * 1024 * 1024; // the commit of a large transaction

// Whether the store responds: reads one key that nothing else writes, half a unit per second at most. It does not use
// the control plane, whose limits are low and which says nothing about the tables. A store in a local folder must also
// be able to commit, which fails on a disk that is full or read-only: there the key is written.
export function storeCheck(
  client: Pick<DynamoClient, 'get' | 'put'>,
  clock: Pick<Clock, 'now' | 'sleep'>,
  folder?: string,
): () => Promise<void> {
  const { partition, sort } = streamsTable.keys;
  const Key = { [partition]: 'ready', [sort!]: 'ready' };
  const TableName = streamsTable.name;
  const ask = async (): Promise<void> => {
    if (folder === undefined) return void (await client.get({ TableName, Key }));
    await requireSpace(folder);
    await client.put({ TableName, Item: { ...Key, at: clock.now() } });
  };
  let latest: { atMs: number; answer: Promise<void> } | undefined;

  async function look(): Promise<void> {
    for (let left = attempts; ; left--)
      try {
        return await ask();
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

// A free page inside the file can be written when the disk is full; the next large commit could not.
async function requireSpace(folder: string): Promise<void> {
  const { freeBytes } = await import('@stak/engine'); // not needed for a store elsewhere
  const bytes = freeBytes(folder);
  if (bytes < leastBytes) throw new Error(`${bytes} bytes are free on the disk of ${folder}`);
}

const startWithinMs = 60_000; // a longer outage is reported to those who started the server
const startPauseMs = 1_000;

type StartWait = {
  clock: Pick<Clock, 'now' | 'sleep'>;
  log: Pick<Logger, 'warn'>;
  withinMs?: number;
};

// For what a start does to the store, which can be repeated: a server that begins while the store is throttled or away
// waits for it.
export async function retryWhileUnavailable<T>(
  work: () => Promise<T>,
  { clock, log, withinMs = startWithinMs }: StartWait,
): Promise<T> {
  const endsMs = clock.now() + withinMs;
  for (;;)
    try {
      return await work();
    } catch (error) {
      if (!isUnavailable(error) || lacksCredentials(error)) throw error;
      if (clock.now() >= endsMs) throw storeIsAway(error, withinMs);
      log.warn({ err: error }, 'the store does not answer; the server starts when it does');
      await clock.sleep(startPauseMs);
    }
}

// A start without credentials fails at once, so that the operator sees why.
const lacksCredentials = (error: unknown): boolean =>
  error instanceof Error && (error.name === 'CredentialsProviderError' || lacksCredentials(error.cause));

const storeIsAway = (error: unknown, withinMs: number): UsageError => {
  const { message, name } = error as Error; // that of a refused connection has no words
  return new UsageError(
    `the store was throttled or away for ${Math.ceil(withinMs / 1000)} seconds: ${message || name}; check its address, its region and its capacity, and start again`,
    { cause: error },
  );
};
