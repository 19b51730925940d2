import { listStorage, requestRecount, sizeText } from '@stak/accounts';
import { systemClock } from '@stak/kit';
import { createStore } from '@stak/table';
import { readStoreConfig, type StoreFlags } from '../../config/config.ts';
import type { Database } from '../../store/database.ts';
import { countedTables } from '../../store/storage.ts';
import { visitDatabase } from '../../store/visit.ts';
import { printTable } from '../print.ts';

export type Flags = StoreFlags & { json?: unknown };

export const actions = {
  list: flags => visit(flags, database => list(database, flags.json === true)),
  recount: flags => visit(flags, recount),
} satisfies Record<string, (flags: Flags) => Promise<void>>;

const visit = (flags: Flags, work: (database: Database) => Promise<void>) =>
  visitDatabase(
    readStoreConfig(flags),
    'there is no table stak-storage here: no server has counted anything yet',
    work,
  );

async function list({ client }: Database, asJson: boolean): Promise<void> {
  const all = await listStorage({ store: createStore({ client }), client });
  if (asJson) return console.log(JSON.stringify(all, null, 2));
  const rows = all.map(({ accountId, bytes, items }) => [
    accountId === '*' ? 'all together' : accountId,
    sizeText(bytes),
    String(items),
  ]);
  printTable([['account', 'stored', 'items'], ...rows], 'Nothing is stored yet.');
}

async function recount({ client }: Database): Promise<void> {
  const store = createStore({ client });
  for (const { name } of countedTables) await requestRecount(store, systemClock.now(), name);
  console.log('A running server begins within seconds; otherwise the next one does when it starts.');
}
