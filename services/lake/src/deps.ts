import type { AccountPrincipal } from '@stak/http';
import type { Clock, Ids, Logger, Owners, Sealer } from '@stak/kit';
import type { StreamSource } from '@stak/streams';
import type { DynamoClient, Insight, Store } from '@stak/table';
import type { Duck, Ducks, ReaderDucks } from './duckdb/duck.ts';
import type { QueryLimits } from './reader.ts';
import type { PayerOf, TenantsOf } from './scope.ts';
import type { ObjectStore } from './storage/objects.ts';
import type { FollowedTable, Texts } from './tables.ts';

// Stores whether an account wants texts in the lake.
export type TextsSetting = {
  read(accountId: string): Promise<number | undefined>; // since when, in milliseconds
  set(
    by: AccountPrincipal,
    isOn: boolean,
    origin: { address: string | undefined; requestId: string },
  ): Promise<void>;
};

// Used by the reader and by the maintenance.
export type SharedDeps = {
  store: Store;
  clock: Clock;
  ids: Ids;
  log: Logger;
  // The streams' ends, from which the lag is computed.
  source: StreamSource;
  objects: ObjectStore;
  // A folder of this process alone, for temporary files.
  scratch: string;
  tables: readonly FollowedTable[];
  insights?: readonly Insight[];
  texts?: Texts; // without it, no account has texts in the lake
  icebergMs?: number; // between two snapshots of Iceberg; infinite for none, to measure what they cost
};

export type MaintenanceDeps = SharedDeps & {
  // For the scans of a backfill, which the store does not allow.
  client: DynamoClient;
  // Tells which owners of leases are gone. Without it, a lease has to expire.
  owners?: Owners;
  flushMs?: number;
  bronzeDays?: number;
  duck?: Duck;
};

export type ReaderDeps = SharedDeps & {
  // The tenants of an account.
  tenantsOf: TenantsOf;
  // Seals the keys to files, which are valid for this server's address only.
  sealer: Sealer;
  publicUrl: string;
  // Finds the account whose limits apply to an end user. Not needed without end users.
  payerOf?: PayerOf;
  // By the plan of the paying account. Default: `limits.queryLimit`.
  queryLimits?: QueryLimits;
  textsSetting?: TextsSetting;
  // The processes that run SQL. By default the reader starts its own.
  ducks?: ReaderDucks;
};

export type LakeDeps = Omit<ReaderDeps, 'ducks'> & Omit<MaintenanceDeps, 'duck'> & { ducks?: Ducks };
