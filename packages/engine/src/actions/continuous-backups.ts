import type { Context } from '../context.ts';
import { DynamoError } from '../errors.ts';
import type { Table } from '../storage/table.ts';
import {
  type UpdateContinuousBackupsInput,
  validateUpdateContinuousBackups,
} from '../validation/table-extras.ts';
import { type TableInput, validateTableInput } from '../validation/tables.ts';

// Infrastructure tools read this for every table they manage, and correct differences. The setting is stored; there is
// no history to restore from.

const defaultDays = 35;

export function describeContinuousBackups(context: Context, input: TableInput) {
  validateTableInput(input);
  return describe(context, backedUpTable(context, input.TableName));
}

export async function updateContinuousBackups(context: Context, input: UpdateContinuousBackupsInput) {
  validateUpdateContinuousBackups(input);
  const { PointInTimeRecoveryEnabled: enabled, RecoveryPeriodInDays: days } =
    input.PointInTimeRecoverySpecification;
  const table = await context.submit(tx => {
    const { recovery, ...rest } = backedUpTable(context, input.TableName);
    const since = recovery?.since ?? context.now();
    const next: Table = enabled
      ? { ...rest, recovery: { since, days: days ?? recovery?.days ?? defaultDays } }
      : rest;
    context.catalog.save(tx, next);
    return next;
  });
  return describe(context, table);
}

export function backedUpTable({ catalog }: Context, name: string): Table {
  const table = catalog.find(name);
  if (!table) throw new DynamoError('TableNotFoundException', `Table not found: ${name}`);
  return table;
}

function describe(context: Context, { recovery }: Table) {
  const now = context.now();
  return {
    ContinuousBackupsDescription: {
      ContinuousBackupsStatus: 'ENABLED',
      PointInTimeRecoveryDescription: {
        PointInTimeRecoveryStatus: recovery ? 'ENABLED' : 'DISABLED',
        ...(recovery && {
          RecoveryPeriodInDays: recovery.days,
          EarliestRestorableDateTime: Math.max(recovery.since, now - recovery.days * 86_400_000) / 1000,
          LatestRestorableDateTime: now / 1000,
        }),
      },
    },
  };
}
