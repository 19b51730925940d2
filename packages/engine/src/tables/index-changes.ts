import { DynamoError, resourceNotFound, validationError } from '../errors.ts';
import { globalIndexes } from '../limits.ts';
import { type Index, type Table, vectorsOf } from '../storage/table.ts';
import type { UpdateTableInput } from '../validation/update-table.ts';
import { defineIndex, onDemandOf, warmUnitsOf } from './definition.ts';
import { updateThroughput } from './settings.ts';

// The indexes after an UpdateTable: a new one begins as CREATING and is filled in the background, a dropped one
// is DELETING until its entries are gone.
export function updateIndexes(
  table: Table,
  input: UpdateTableInput,
  now: number,
  newId: () => number,
): Index[] {
  const updates = input.GlobalSecondaryIndexUpdates ?? [];
  checkOneAtATime(table, input);
  checkThroughputGiven(table, input);
  let indexes = table.indexes;
  for (const { Update, Create, Delete } of updates) {
    if (Create) {
      const index = defineIndex('global', Create, input.AttributeDefinitions ?? [], newId);
      indexes = [...indexes, { ...index, status: 'CREATING' }];
    } else if (Delete) {
      indexes = replace(table, indexes, Delete.IndexName, index => ({ ...index, status: 'DELETING' }));
    } else if (Update) {
      indexes = replace(table, indexes, Update.IndexName, index => ({
        ...index,
        throughput: updateThroughput(
          index.throughput ?? { read: 0, write: 0 },
          Update.ProvisionedThroughput,
          now,
        ),
        ...(Update.OnDemandThroughput && { onDemand: onDemandOf(Update.OnDemandThroughput) }),
        ...(Update.WarmThroughput && { warm: { ...index.warm, ...warmUnitsOf(Update.WarmThroughput) } }),
      }));
    }
  }
  if (indexes.filter(index => index.kind === 'global').length > globalIndexes) {
    throw validationError(
      `One or more parameter values were invalid: GlobalSecondaryIndex count exceeds the per-table limit of ${globalIndexes}`,
    );
  }
  const leavesProvisioned = input.BillingMode === 'PAY_PER_REQUEST' && table.billing === 'PROVISIONED';
  return leavesProvisioned ? indexes.map(withoutThroughput) : indexes;
}

const withoutThroughput = (index: Index): Index =>
  index.throughput ? { ...index, throughput: { read: 0, write: 0 } } : index;

function replace(table: Table, indexes: Index[], name: string, change: (index: Index) => Index): Index[] {
  const found = indexes.find(index => index.name === name && index.kind === 'global');
  if (!found) throw resourceNotFound(`Requested resource not found: Index ${name} for table ${table.name}`);
  return indexes.map(index => (index === found ? change(index) : index));
}

// An index that is still being filled may be dropped; otherwise only one is built or dropped at a time.
function checkOneAtATime(table: Table, input: UpdateTableInput): void {
  const updates = [...(input.GlobalSecondaryIndexUpdates ?? []), ...(input.VectorIndexUpdates ?? [])];
  const changes = updates.filter(({ Create, Delete }) => Create ?? Delete);
  const dropped = new Set(changes.map(({ Delete }) => Delete?.IndexName));
  const busy = [...table.indexes, ...vectorsOf(table)].filter(
    index => index.status === 'DELETING' || (index.status === 'CREATING' && !dropped.has(index.name)),
  );
  if (changes.length <= 1 && (changes.length === 0 || busy.length === 0)) return;
  throw new DynamoError(
    'LimitExceededException',
    'Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table',
  );
}

function checkThroughputGiven(table: Table, input: UpdateTableInput): void {
  if (input.BillingMode !== 'PROVISIONED' || table.billing === 'PROVISIONED') return;
  const given = new Set(
    (input.GlobalSecondaryIndexUpdates ?? []).map(
      ({ Update, Create, Delete }) => (Update ?? Create ?? Delete)?.IndexName,
    ),
  );
  const missing = table.indexes.filter(index => index.kind === 'global' && !given.has(index.name));
  if (missing.length === 0) return;
  const names = missing.map(index => index.name).join(',');
  throw validationError(
    `One or more parameter values were invalid: ProvisionedThroughput must be specified for index: ${names}`,
  );
}
