import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Contestant } from '../../contestant.ts';
import { mix, queryLimit, type Shape } from '../data.ts';
import { createArrivals, sampleMessages } from '../operations.ts';
import type { Settings } from '../settings.ts';
import { start as startEngine } from './in-process.ts';
import { openRaw } from './raw-store.ts';
import { namesOf, type Recording, type Recordings, recordWrites, type Write } from './recorded-writes.ts';

// The lower bound: LMDB alone, doing the engine's reads and writes with the engine's own bytes, prepared ahead of the
// measured time. Nothing is validated, encoded or decoded.

type Job = { reads: Buffer[]; writes: Write[] };

const jobsPerMs = 120; // more than LMDB can do, so a round never runs out
const pastIds = Buffer.from([0xff]);

export async function start({ folder, shape }: Settings): Promise<Contestant> {
  mkdirSync(folder);
  const data = join(folder, 'data');
  await (await startEngine({ folder: data, shape })).close();
  const recordings = await recordWrites(join(folder, 'recording'));
  const { keys, partitions } = makeKeys(recordings.put, shape);
  const makeJob = createJobMaker(recordings, shape);
  const db = openRaw(data);
  let jobs: Job[] = [];
  let turn = 0;
  // Sums what was read, so that no read can be optimised away.
  let bytesRead = 0;

  // LMDB itself groups waiting transactions into one commit.
  async function write(): Promise<void> {
    const { reads, writes } = jobs.pop()!;
    await db.transaction(() => {
      for (const key of reads) bytesRead += db.get(key)?.length ?? 0;
      for (const { key, value } of writes) db.put(key, value);
    });
    await db.flushed;
  }

  function get(): void {
    const value = db.get(keys[turn++ % keys.length]!);
    if (!value) throw new Error('a message was lost');
    bytesRead += value.length;
  }

  function query(): void {
    const { start, end } = partitions[mix(turn++) % partitions.length]!;
    let count = 0;
    for (const { value } of db.getRange({ start: end, end: start, reverse: true, limit: queryLimit })) {
      count++;
      bytesRead += value.length;
    }
    if (count !== queryLimit) throw new Error(`a query found ${count} messages`);
  }

  return {
    operations: { get, query, put: write, update: write, transaction: write },
    prepare(operation, durationMs) {
      jobs = isRecorded(operation)
        ? Array.from({ length: durationMs * jobsPerMs }, () => makeJob(operation))
        : [];
    },
    async close() {
      await db.close();
      if (bytesRead === 0) throw new Error('nothing was read');
    },
  };
}

const isRecorded = (operation: string): operation is keyof Recordings =>
  operation === 'put' || operation === 'update' || operation === 'transaction';

function makeKeys({ items: [message] }: Recording, shape: Shape) {
  const keyOf = (user: number, id: string) => message!.key(namesOf({ user, id, atMs: 0, category: 0 }));
  return {
    keys: sampleMessages(shape).map(({ user, id }) => keyOf(user, id)),
    partitions: Array.from({ length: shape.users }, (_, user) => {
      const start = keyOf(user, '');
      return { start, end: Buffer.concat([start, pastIds]) };
    }),
  };
}

// The engine writes its size counters once per commit; here one is written per operation, which is at least as much.
function createJobMaker(recordings: Recordings, shape: Shape): (operation: keyof Recordings) => Job {
  const arrive = createArrivals(shape);
  return operation => {
    const names = namesOf(arrive());
    const { items, entries, sizes } = recordings[operation];
    const writes = [...items, ...entries, ...sizes.slice(0, 1)].map(({ key, value }) => ({
      key: key(names),
      value: value(names),
    }));
    return { reads: writes.slice(0, items.length).map(({ key }) => key), writes };
  };
}
