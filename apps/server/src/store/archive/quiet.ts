import { createHash } from 'node:crypto';
import { systemClock } from '@stak/kit';
import { listConsumers, readStatus } from '@stak/streams';
import { type AnyTable, createStore } from '@stak/table';
import { UsageError } from '../../config/errors.ts';
import type { Database } from '../database.ts';

// An archive remembers its store by this, so that no export continues with another one, or with another state of it.

const fingerprint = (facts: unknown): string =>
  createHash('sha256').update(JSON.stringify(facts)).digest('hex').slice(0, 24);

/** Names a store: another one has tables that were made at another time. */
export async function nameStore(
  { control }: Pick<Database, 'control'>,
  tables: readonly AnyTable[],
): Promise<string> {
  const made: unknown[] = [];
  for (const { name } of tables) {
    const { Table } = (await control.execute('DescribeTable', { TableName: name })) as {
      Table: { TableArn?: string; TableId?: string; CreationDateTime?: Date | number };
    };
    made.push([Table.TableArn, Table.TableId, Number(Table.CreationDateTime)]);
  }
  return fingerprint(made);
}

/**
 * Identifies the state of a store without writes. What a server writes during an export would be missing in part; and
 * changes that a consumer has not handled yet would be lost.
 */
export async function nameQuietState({ client, source }: Database): Promise<string> {
  const store = createStore({ client });
  const ends: unknown[] = [source.newest?.()];
  for (const name of await listConsumers(store)) {
    const { members, shards, deadLetters } = await readStatus({ store, source, clock: systemClock }, name);
    // A stream begins a new shard now and then, without a change.
    for (const { shardId, sequence, behind } of shards)
      if (sequence !== undefined || behind?.newest !== undefined)
        ends.push([name, shardId, sequence, behind?.newest]);
    if (isCountedAgain(name)) continue;
    if (members > 0)
      throw new UsageError('a server is running on this store: stop it first, or export with --live');
    const waiting = shards.reduce((sum, shard) => sum + (shard.behind?.records ?? 0), 0);
    if (waiting > 0)
      throw new UsageError(
        `${name} has not seen the last ${waiting} changes: start the server, wait until stak streams status says that all are up to date, and stop it`,
      );
    if (deadLetters > 0)
      throw new UsageError(
        `${name} has ${deadLetters} dead letters, which stay behind: see stak streams letters ${name}, or export with --live`,
      );
  }
  return fingerprint(ends);
}

// Storage is counted again after an import, and a lake starts with the contents of the tables.
const isCountedAgain = (consumer: string): boolean => /^(?:storage|lake)-/.test(consumer);
