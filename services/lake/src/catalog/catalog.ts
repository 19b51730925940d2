import type { AccountPrincipal } from '@stak/http';
import type { Clock, Sealer } from '@stak/kit';
import type { Insight } from '@stak/table';
import { lakeErrors } from '../errors.ts';
import { tableName } from '../iceberg/iceberg-tables.ts';
import type { LakeTable } from '../lake-table.ts';
import { goldNames } from '../layers/gold-names.ts';
import { listViews } from '../query/query.ts';
import { everyone, scopeOf, type TenantsOf } from '../scope.ts';
import { type CopyTable, copyFolder, type createCopies, type Namespace } from './copies.ts';
import { grantFiles, readableFolder, type SignedRequest } from './signature.ts';

// A REST catalog for Iceberg clients, for one account or for the operator: lists tables, and returns a table with its
// metadata and credentials for its files.

export const namespaces: readonly Namespace[] = ['bronze', 'silver', 'gold'];

export type CatalogDeps = {
  lakeTables: readonly LakeTable[];
  insights: readonly Insight[];
  tenantsOf: TenantsOf;
  copies: ReturnType<typeof createCopies>;
  sealer: Sealer;
  clock: Clock;
  publicUrl: string;
  // Accounts share the capacity for copies as they do for SQL.
  runFairly<T>(payer: string, work: () => Promise<T>): Promise<T>;
};

export type CatalogReader = AccountPrincipal | 'operator';
export type Catalog = ReturnType<typeof createCatalog>;

export function createCatalog(deps: CatalogDeps) {
  const { lakeTables, insights, copies, sealer, clock, publicUrl, runFairly } = deps;
  const views = listViews(lakeTables);
  const sums = insights.flatMap(insight => {
    const lakeTable = lakeTables.find(({ plan }) => plan.table.name === insight.entity.table.name);
    if (!lakeTable) return [];
    const name = tableName(goldNames(insight)[0]!.name);
    return [{ namespace: 'gold' as const, name, lakeTable, entity: insight.entity.name, insight }];
  });

  function tablesOf(reader: CatalogReader, namespace: string): CopyTable[] {
    if (namespace === 'gold') return sums;
    if (namespace !== 'bronze' && namespace !== 'silver')
      throw lakeErrors.create('lake.table_not_found', `There is no namespace called ${namespace}.`);
    return views
      .filter(({ scope, isText }) =>
        reader === 'operator' ? !isText : scope === undefined || scope === reader.scope,
      )
      .map(({ name, lakeTable, entity }) => ({ namespace, name: tableName(name), lakeTable, entity }));
  }

  return {
    list: (reader: CatalogReader, namespace: string): string[] =>
      tablesOf(reader, namespace).map(({ name }) => name),
    async load(reader: CatalogReader, namespace: string, name: string) {
      const table = tablesOf(reader, namespace).find(one => one.name === name);
      if (!table) throw lakeErrors.create('lake.table_not_found', `There is no table ${namespace}.${name}.`);
      const scope = reader === 'operator' ? everyone : await scopeOf(reader, deps);
      if (scope.kind === 'endUser') throw new TypeError('a catalog is an account’s');
      const { location, metadata } = await runFairly(scope.payer, () => copies.load(table, scope));
      const key = grantFiles(sealer, clock, `${copyFolder(scope)}/${namespace}.${name}`);
      return {
        'metadata-location': location,
        metadata,
        config: {
          's3.endpoint': `${publicUrl}/v1/lake/iceberg/files`,
          's3.access-key-id': key.accessKeyId,
          's3.secret-access-key': key.secretAccessKey,
          's3.region': 'us-east-1',
          's3.path-style-access': 'true',
        },
      };
    },
    // The location of a file that the request may read. A key is valid for one table of one account.
    keyOf(request: SignedRequest, table: string, kind: string, file: string): string | undefined {
      const folder = readableFolder(sealer, clock, request);
      return folder?.endsWith(`/${table}`) ? `${folder}/${kind}/${file}` : undefined;
    },
  };
}
