import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { StoreConfig } from '../config/config.ts';
import { isMissing, UsageError } from '../config/errors.ts';
import { describeTarget, readMove } from './archive/move.ts';
import { type Database, explainPrefixes, openDatabase } from './database.ts';

// For commands on the store of a server, whether or not it runs. They do not create a store in a mistyped folder, or a
// table; `missing` is the message if there is none. The data of a store that has moved are old, and shown only on
// request.
export async function visitDatabase(
  config: StoreConfig,
  missing: string,
  work: (database: Database) => Promise<void>,
  { mayHaveMoved = false } = {},
): Promise<void> {
  if (config.kind === 'embedded' && !existsSync(resolve(config.path)))
    throw new UsageError(`there is no folder ${config.path}; name the one of a server with --path`);
  const database = await openDatabase(config, { isSecondary: true });
  try {
    const move = database.embedded && readMove(database.embedded);
    if (move && !mayHaveMoved)
      throw new UsageError(
        `the store in ${config.kind === 'embedded' ? config.path : ''} has moved to ${describeTarget(move)}: name that one with --region or --endpoint`,
      );
    await work(database);
  } catch (error) {
    if (!isMissing(error)) throw error;
    const others = await database.otherPrefixes();
    throw new UsageError(others.length === 0 ? missing : explainPrefixes(others, config.prefix ?? ''));
  } finally {
    await database.close();
  }
}
