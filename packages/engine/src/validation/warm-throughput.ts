import type { Table } from '../storage/table.ts';
import { invalid } from './attribute-values.ts';
import type { CreateTableInput } from './create-table.ts';
import type { WarmThroughputInput } from './table-members.ts';
import type { UpdateTableInput } from './update-table.ts';

// Warm throughput is what a table, or an index, can take at once. The engine has no such limit: it is stored for tools
// that set it and read it. It can be raised and never lowered.

type Warm = { read: number; write: number };

/** Every table on demand begins with these. */
const onDemandWarm: Warm = { read: 12_000, write: 4_000 };

const initialThroughput =
  'https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/on-demand-capacity-mode.html#on-demand-capacity-mode-initial';

export function checkNewWarmThroughput(input: CreateTableInput): void {
  const isOnDemand = input.BillingMode === 'PAY_PER_REQUEST';
  checkNew(input, 'table', isOnDemand);
  for (const index of input.GlobalSecondaryIndexes ?? [])
    checkNew(index, `index ${index.IndexName}`, isOnDemand);
}

type ThroughputInput = Pick<CreateTableInput, 'WarmThroughput' | 'ProvisionedThroughput'>;

function checkNew(
  { WarmThroughput: wanted, ProvisionedThroughput: provisioned }: ThroughputInput,
  owner: string,
  isOnDemand: boolean,
): void {
  if (!wanted) return;
  const least = isOnDemand
    ? onDemandWarm
    : { read: provisioned!.ReadCapacityUnits, write: provisioned!.WriteCapacityUnits };
  const low = lowerUnit(wanted, least);
  if (!low) return;
  const than = isOnDemand
    ? `initial throughput for OnDemand. See: ${initialThroughput}`
    : `${low.replace('UnitsPerSecond', 'CapacityUnits')} of ProvisionedThroughput`;
  throw invalid(`Requested ${low} for WarmThroughput for ${owner} is lower than ${than}`);
}

export function checkWarmThroughputChanges(table: Table, input: UpdateTableInput): void {
  if (input.WarmThroughput) checkChange(input.WarmThroughput, warmOf(table, table), 'table');
  for (const { Update, Create } of input.GlobalSecondaryIndexUpdates ?? []) {
    const index = table.indexes.find(({ name, kind }) => name === Update?.IndexName && kind === 'global');
    if (Update?.WarmThroughput && index)
      checkChange(Update.WarmThroughput, warmOf(table, index), `index ${index.name}`);
    if (Create) checkNew(Create, `index ${Create.IndexName}`, isOnDemandAfter(table, input));
  }
}

const isOnDemandAfter = (table: Table, { BillingMode }: UpdateTableInput): boolean =>
  (BillingMode ?? table.billing) === 'PAY_PER_REQUEST';

function checkChange(wanted: WarmThroughputInput, now: Warm, owner: string): void {
  if (wanted.ReadUnitsPerSecond == null && wanted.WriteUnitsPerSecond == null) {
    const of = owner === 'table' ? '' : ` for ${owner.replace(' ', ': ')}`;
    throw invalid(
      `WarmThroughput must have at least one of ReadUnitsPerSecond or WriteUnitsPerSecond specified${of}`,
    );
  }
  const low = lowerUnit(wanted, now);
  if (!low) return;
  throw invalid(
    `Requested ${low} for WarmThroughput for ${owner} is lower than current WarmThroughput, ` +
      'decreasing WarmThroughput is not supported',
  );
}

function lowerUnit(
  { ReadUnitsPerSecond: read, WriteUnitsPerSecond: write }: WarmThroughputInput,
  least: Warm,
): 'ReadUnitsPerSecond' | 'WriteUnitsPerSecond' | undefined {
  if (read != null && read < least.read) return 'ReadUnitsPerSecond';
  return write != null && write < least.write ? 'WriteUnitsPerSecond' : undefined;
}

type StoredThroughput = {
  warm?: { read?: number; write?: number };
  throughput?: { read: number; write: number };
};

/** Returns the values that were set, or those that the table or index has by default. */
export function warmOf({ billing }: Pick<Table, 'billing'>, { warm, throughput }: StoredThroughput): Warm {
  const usual = billing === 'PAY_PER_REQUEST' ? onDemandWarm : (throughput ?? { read: 0, write: 0 });
  return { read: Math.max(warm?.read ?? 0, usual.read), write: Math.max(warm?.write ?? 0, usual.write) };
}
