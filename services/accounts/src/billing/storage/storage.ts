import {
  type Clock,
  createTimedCache,
  type Ids,
  type Logger,
  type Owners,
  unknownOwners,
  type Worker,
} from '@stak/kit';
import type { StreamSource, Subscription } from '@stak/streams';
import { type AnyTable, createOwners, type DynamoClient, type Ownership, type Store } from '@stak/table';
import type { PlanName } from '../../plans.ts';
import {
  type AccountStorage,
  eraseCounts,
  listStorage,
  readStates,
  readStorage,
  type StorageUse,
} from './counts.ts';
import { createStorageLimit, type StorageLimit, type StorageNotice } from './limit.ts';
import * as limits from './limits.ts';
import { meterTable } from './meter.ts';
import { type AccountOf, createPayers } from './owners.ts';
import { createRecounter } from './recount.ts';
import { everyone, type Summing } from './sums.ts';
import { requestRecount } from './table-state.ts';
import type { TableState } from './tables.ts';
import { addWritten } from './written.ts';

export type ServiceOwners<Kind extends string> = { service: string; owners: readonly Ownership<Kind>[] };

export type StorageDeps<Kind extends string> = {
  store: Store;
  client: DynamoClient;
  source: StreamSource;
  clock: Clock;
  ids: Ids;
  log: Logger;
  owners?: Owners; // which counting processes have crashed; without it leases expire
  tables: readonly AnyTable[];
  services: readonly ServiceOwners<Kind>[];
  accountOf: AccountOf<Kind>;
  planOf(accountId: string): Promise<PlanName | undefined>; // undefined: there is no such account
  limitOf(plan: PlanName): number | null; // null: no limit
  notify?(notice: StorageNotice): Promise<void>;
};

export type Storage = StorageLimit & {
  read(accountId: string): Promise<StorageUse>;
  readAll(): Promise<StorageUse>;
  list(): Promise<AccountStorage[]>; // for operators: reads all counts
  requestRecount(): Promise<void>;
  erase(accountId: string): Promise<void>;
  // Counts what is stored for the account outside the counted tables, such as the answer to a repeated request.
  charge(accountId: string, bytes: number): Promise<void>;
  limitOf(plan: PlanName): number | null;
  countWhereNeeded(signal: AbortSignal): Promise<void>; // one round of the worker
  subscriptions: readonly Subscription[];
  workers: readonly Worker[];
};

// Counts the bytes of each account in every table, and enforces the limit of its plan.
export function createStorage<Kind extends string>(deps: StorageDeps<Kind>): Storage {
  const { store, clock, tables, services, planOf, limitOf } = deps;
  const findOwner = createOwners(
    tables,
    services.flatMap(service => service.owners),
  );
  const serviceNames = new Map(
    services.flatMap(service => service.owners.map(({ entity }) => [entity, service.service])),
  );
  const payers = createPayers({ ...deps, exists: async id => (await planOf(id)) !== undefined });
  const summing = tables.map(
    (table): Summing<Kind> => ({
      table,
      findOwner,
      payers,
      serviceOf: entity => serviceNames.get(entity)!,
    }),
  );
  const recounter = createRecounter({ ...deps, owners: deps.owners ?? unknownOwners(deps.ids) }, summing);
  const names = tables.map(({ name }) => name);
  const read = (accountId: string) => readStorage(deps, names, accountId);
  // The states are the same for all accounts and in one partition, so thousands of accounts share one read.
  const states = createTimedCache<TableState[]>({ clock, most: 1, forMs: limits.statesMs });
  const loadStates = () => states.load('', () => readStates(store));
  return {
    ...createStorageLimit({
      ...deps,
      readUse: accountId => readStorage(deps, names, accountId, loadStates()),
      planOf: async accountId => (await planOf(accountId)) ?? 'free',
    }),
    read,
    readAll: () => read(everyone),
    list: () => listStorage(deps),
    async requestRecount() {
      for (const table of names) await requestRecount(store, clock.now(), table);
    },
    erase: accountId => eraseCounts(store, accountId),
    async charge(accountId, bytes) {
      if (bytes < limits.answerBytes) return;
      await store.transact([['answer', addWritten(accountId, 'answers', bytes, clock.now())]], {
        pattern: 'charge a stored answer',
      });
    },
    limitOf,
    subscriptions: summing.map(table => meterTable(deps, table)),
    countWhereNeeded: recounter.countWhereNeeded,
    workers: [recounter.worker],
  };
}
