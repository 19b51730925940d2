import { apiKeyHash, membersOf, profile, session } from '@stak/accounts/tables';
import { approval, memoryJob, state } from '@stak/agents/tables';
import { member, memberTotal } from '@stak/inbox/tables';
import type { Clock } from '@stak/kit';
import { importedAt } from '@stak/streams';
import {
  type AnyEntity,
  type AnyTable,
  type Attributes,
  createStore,
  type DynamoClient,
  entityOf,
  type ItemOf,
  isRefused,
  readStoredBatch,
  recognise,
  type Store,
  write,
} from '@stak/table';
import { alert, backlog, delivery, event, job } from '@stak/webhooks/tables';
import { usualDueShards } from '../../config/config.ts';
import { UsageError } from '../../config/errors.ts';
import { ownTenant } from '../own-tenant.ts';
import { accountTables } from './account.ts';
import type { Manifest } from './format.ts';
import {
  compareItems,
  eachItem,
  type Imported,
  type ImportOptions,
  keyIn,
  openArchive,
  persist,
  readBatch,
  storeSeals,
} from './import.ts';
import { nameOf, type Selection, type SelectionOptions, selectItems } from './selection.ts';
import { openTrialStore } from './trial-store.ts';
import { isWork } from './work.ts';

export type AccountImport = Omit<ImportOptions, 'control' | 'tables' | 'recovery'> & SelectionOptions;

// Consumers of a stream would take these for new events. They are marked, and consumers skip them.
const news: readonly AnyEntity[] = [event, alert, approval];

const credentials: readonly AnyEntity[] = [apiKeyHash, session];

const dueShards: readonly { of: readonly AnyEntity[]; attribute: string; shards: number }[] = [
  { of: [delivery, backlog, job], attribute: 'dueIn', shards: usualDueShards.webhooks },
  { of: [state, memoryJob], attribute: 'due_lane', shards: usualDueShards.agents },
];

// Moves the item to a shard that every store has: this store may have fewer than the source.
export function inUsualShard(table: AnyTable, item: Attributes): Attributes {
  const entity = entityOf(table, item);
  const due = entity && dueShards.find(({ of }) => of.includes(entity));
  const shard = due && item[due.attribute];
  const [, prefix, number] = (typeof shard === 'string' && /^(s?)(\d{1,3})$/.exec(shard)) || [];
  if (!due || number === undefined || Number(number) < due.shards) return item;
  const moved: Attributes = { ...item, [due.attribute]: `${prefix}${Number(number) % due.shards}` };
  for (const { partition, templates } of entity.indexes)
    if (templates.partition.params.includes(due.attribute))
      moved[partition] = templates.partition.literals.join(String(moved[due.attribute]));
  return moved;
}

type Phase = 'data' | 'work' | 'profile';

// No user can sign in, and no worker starts, before the data have arrived.
function phaseOf(table: AnyTable, item: Attributes): Phase {
  const entity = entityOf(table, item);
  if (entity === profile) return 'profile';
  return entity && (credentials.includes(entity) || isWork(entity)) ? 'work' : 'data';
}

/**
 * Adds the items of accounts to a store that others use, whether or not its server runs. Nothing is overwritten: ids
 * stay the same, so an existing item means that the account, its address or one of its tenants exists already. Every
 * item is checked before: an archive may come from anyone.
 */
export async function importAccounts(
  options: AccountImport,
): Promise<Imported & { people: string[]; leftOut: Selection['leftOut'] }> {
  const { client, clock, goOn = false } = options;
  const all = { ...options, tables: accountTables };
  const manifest = await openArchive(all);
  const accounts = manifest.accounts ?? [];
  const store = createStore({ client, clock });
  for (const userId of accounts)
    if (await store.get(profile, { userId }, { consistent: true }))
      throw new UsageError(`the account ${userId} already exists`);
  const selection = await selectItems(options, manifest);
  const nowMs = clock.now();
  const adapted = (table: AnyTable, item: Attributes): Attributes =>
    news.includes(entityOf(table, item)!) ? { ...item, [importedAt]: nowMs } : inUsualShard(table, item);
  const openStored = async () => {
    const seals = await storeSeals(options, manifest);
    const toStored = (table: AnyTable, item: Attributes) => seals.toStored(table, adapted(table, item));
    return { toStored, unopened: seals.unopened };
  };
  await requireWritable(all, manifest, selection, (await openStored()).toStored);
  if (!goOn) await requireFree(all, manifest, selection);
  const { toStored, unopened } = await openStored();
  const add = async (phase: Phase) => {
    await eachItem(all, manifest, { what: `Writing the ${phase} of`, size: atOnce }, async (table, batch) => {
      const own = selection.take(table, batch).filter(item => phaseOf(table, item) === phase);
      await Promise.all(
        own.map(item => addItem({ store, client, clock }, table, toStored(table, item), phase, goOn)),
      );
    });
  };
  await add('data');
  await eachItem(all, manifest, { what: 'Reading again', size: readBatch }, (table, batch) =>
    compareItems(
      options,
      table,
      selection.take(table, batch).filter(item => phaseOf(table, item) === 'data'),
    ),
  );
  await add('work');
  await add('profile');
  return {
    items: selection.count,
    unopened: unopened(),
    leftOut: selection.leftOut,
    people: await missingPeople(store, accounts),
  };
}

const atOnce = 25;
const named = 5; // items listed in an error

// Refuses what the store would refuse in the middle of the import, which another import could not finish.
async function requireWritable(
  options: AccountImport & { tables: readonly AnyTable[] },
  manifest: Manifest,
  selection: Selection,
  toStored: (table: AnyTable, item: Attributes) => Attributes,
): Promise<void> {
  const trial = await openTrialStore(options.tables);
  const refused: string[] = [];
  try {
    await eachItem(options, manifest, { what: 'Trying', size: readBatch }, async (table, batch) => {
      for (const item of selection.take(table, batch)) {
        const why = await trial.refusalOf(table, toStored(table, item));
        if (why !== undefined) refused.push(`${nameOf(table, item).slice(0, nameChars)}: ${why}`);
      }
    });
  } finally {
    await trial.close();
  }
  if (refused.length > 0)
    throw new UsageError(
      `no store takes ${refused.length} items of the archive: ${refused.slice(0, named).join('; ')}. Nothing was written`,
    );
}

const nameChars = 200; // of an item whose key may be too long

async function requireFree(
  options: AccountImport & { tables: readonly AnyTable[] },
  manifest: Manifest,
  selection: Selection,
): Promise<void> {
  const { client, clock } = options;
  const taken: string[] = [];
  await eachItem(options, manifest, { what: 'Looking for', size: readBatch }, async (table, batch) => {
    const keys = selection.take(table, batch).map(item => keyIn(table, item));
    const stored = await persist(clock, () => readStoredBatch({ client, clock }, table, keys));
    for (const item of stored) if (item) taken.push(nameOf(table, item));
  });
  if (taken.length === 0) return;
  const more = taken.length > named ? ` and ${taken.length - named} more` : '';
  throw new UsageError(
    `the store already has: ${taken.slice(0, named).join(', ')}${more}. Nothing was written; resume an interrupted import with --continue`,
  );
}

type Target = { store: Store; client: DynamoClient; clock: Clock };

// A lost response or an interrupted import may have left the item there. Data are compared later; an item that a worker
// has handled since may have changed.
async function addItem(
  { store, client, clock }: Target,
  table: AnyTable,
  item: Attributes,
  phase: Phase,
  goOn: boolean,
): Promise<void> {
  const joined = recognise([member], item)?.item;
  if (joined?.tenant_key === ownTenant && table.name === member.table.name) return join(store, clock, joined);
  try {
    await persist(clock, () =>
      client.put({
        TableName: table.name,
        Item: item,
        ConditionExpression: 'attribute_not_exists(#key)',
        ExpressionAttributeNames: { '#key': table.keys.partition },
      }),
    );
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'ConditionalCheckFailedException') throw error;
    if (phase !== 'data' && !goOn) await compareItems({ client, clock }, table, [item]);
  }
}

// Our own inboxes count their members, which are accounts.
async function join(store: Store, clock: Clock, joined: ItemOf<typeof member>): Promise<void> {
  const { tenant_key, inbox_key } = joined;
  const steps = {
    member: write.put(member, joined, { ifAbsent: true }),
    total: write.update(memberTotal, { tenant_key, inbox_key }, { add: { users: 1 } }, { upsert: true }),
  };
  await persist(clock, () => store.transact(steps, { pattern: 'import a member' })).catch(error => {
    if (!isRefused(error)) throw error;
  });
}

// Members of an account who have no account here: they cannot sign in until theirs is imported too.
async function missingPeople(store: Store, accounts: readonly string[]): Promise<string[]> {
  const people = new Set<string>();
  for (const accountId of accounts)
    for await (const { userId } of store.all(membersOf, { accountId })) people.add(userId);
  const missing: string[] = [];
  for (const userId of people)
    if (!(await store.get(profile, { userId }, { consistent: true }))) missing.push(userId);
  return missing;
}
