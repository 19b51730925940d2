import { type CapacityEntry, createLedger } from '../client/capacity.ts';
import type { ControlPlane, DynamoClient } from '../client/client.ts';
import { createTables } from '../design/create-tables.ts';
import type { AnyEntity } from '../design/entity.ts';
import { sampleOf } from '../design/sample.ts';
import type { AnyTable } from '../design/table.ts';
import type { AnyQuery } from './query.ts';
import { createStore, type Store } from './store.ts';

type Empty = { client: DynamoClient; control: ControlPlane };

/**
 * What the access patterns of a design cost with its examples, or with small samples: puts, gets and deletes each item,
 * and runs every query that has examples. `empty` must be an empty store, such as an engine in memory.
 */
export async function measureCosts(empty: Empty, table: AnyTable): Promise<CapacityEntry[]> {
  await createTables(empty.control, [table]);
  const ledger = createLedger();
  const store = createStore({ client: empty.client, ledger });
  for (const entity of table.entities)
    for (const example of examplesOf(entity)) await store.put(entity, example);
  for (const entity of table.entities) for (const key of keysOf(entity)) await store.get(entity, key);
  for (const query of table.queries) await runQuery(store, query);
  for (const entity of table.entities) for (const key of keysOf(entity)) await store.delete(entity, key);
  return ledger.entries();
}

const examplesOf = (entity: AnyEntity): readonly object[] =>
  entity.examples.length > 0 ? entity.examples : [sampleOf(entity)];

const keysOf = (entity: AnyEntity): object[] =>
  examplesOf(entity).map(example => ({
    ...(entity.version && { [entity.version]: 1 }),
    kind: entity.kind,
    ...example,
  }));

async function runQuery(store: Store, query: AnyQuery): Promise<void> {
  const { params } = query.partitionTemplate;
  const example = query.entities.flatMap(keysOf).find(values => params.every(name => name in values));
  if (!example) return;
  const partition = params.map(name => [name, (example as Record<string, unknown>)[name]]);
  await store.query(query, Object.fromEntries(partition));
}
