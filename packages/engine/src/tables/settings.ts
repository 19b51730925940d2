import { validationError } from '../errors.ts';
import type { Table, Throughput } from '../storage/table.ts';
import type { ThroughputInput } from '../validation/table-members.ts';
import type { UpdateTableInput } from '../validation/update-table.ts';
import { encryptionOf, onDemandOf, warmUnitsOf } from './definition.ts';

// Applies the changes of UpdateTable other than indexes and streams.
export function updateSettings(table: Table, input: UpdateTableInput, now: number): Table {
  const billing = input.BillingMode ?? table.billing;
  const becomesOnDemand = billing === 'PAY_PER_REQUEST' && table.billing === 'PROVISIONED';
  const next: Table = {
    ...table,
    billing,
    throughput: becomesOnDemand
      ? { read: 0, write: 0 }
      : updateThroughput(table.throughput, input.ProvisionedThroughput, now),
    deletionProtection: input.DeletionProtectionEnabled ?? table.deletionProtection,
  };
  if (becomesOnDemand) next.onDemandSince = now;
  if (input.TableClass) next.tableClass = input.TableClass;
  if (input.OnDemandThroughput)
    next.onDemand = { ...table.onDemand, ...onDemandOf(input.OnDemandThroughput) };
  if (billing === 'PROVISIONED') delete next.onDemand;
  if (input.WarmThroughput) next.warm = { ...table.warm, ...warmUnitsOf(input.WarmThroughput) };
  if (input.DisassociationProtectionEnabled !== undefined)
    next.disassociationProtection = input.DisassociationProtectionEnabled;
  if (input.SSESpecification) {
    if (input.SSESpecification.Enabled) next.sse = encryptionOf(input.SSESpecification);
    else delete next.sse;
  }
  return next;
}

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

export function updateThroughput(
  current: Throughput,
  wanted: ThroughputInput | undefined,
  now: number,
): Throughput {
  if (!wanted) return current;
  const next: Throughput = { ...current, read: wanted.ReadCapacityUnits, write: wanted.WriteCapacityUnits };
  if (next.read > current.read || next.write > current.write) next.increasedAt = now;
  if (next.read < current.read || next.write < current.write) {
    const today = current.decreasedAt !== undefined && dayOf(current.decreasedAt) === dayOf(now);
    next.decreasedAt = now;
    next.decreases = (today ? (current.decreases ?? 0) : 0) + 1;
  }
  return next;
}

export function checkStreamChange(table: Table, wanted: UpdateTableInput['StreamSpecification']): void {
  if (!wanted) return;
  const stream = table.streams.at(-1);
  if (!wanted.StreamEnabled) {
    if (stream?.enabled) return;
    throw validationError(`Table has no stream to disable: TableName: ${table.name}`);
  }
  if (stream?.enabled) {
    throw validationError(`Table already has an enabled stream: TableName: ${table.name}`);
  }
  if (!wanted.StreamViewType) {
    throw validationError(
      'One or more parameter values were invalid: If stream is being enabled then UpdateViewType is required',
    );
  }
}
