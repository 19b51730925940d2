import type { Context } from '../context.ts';
import { DynamoError } from '../errors.ts';
import type { Table } from '../storage/table.ts';
import {
  type UpdateContinuousBackupsInput,
  validateUpdateContinuousBackups,
} from '../validation/table-extras.ts';
import { type TableInput, validateTableInput } from '../validation/tables.ts';

// The history of the store has every table, whether this is set or not: infrastructure tools read the setting for every
// table they manage, and correct differences. What is set decides whether a table can be restored by a request.

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

/** From when until when a table can be restored, in milliseconds. A store in memory has only the present. */
export async function restorableTimes(
  { history, now }: Context,
  { createdAt, recovery }: Table,
): Promise<{ earliest: number; latest: number }> {
  const latest = now();
  if (!history) return { earliest: latest, latest };
  const { earliest = latest } = await history.range();
  const period = latest - (recovery?.days ?? defaultDays) * 86_400_000;
  return { earliest: Math.min(latest, Math.max(earliest, createdAt, period)), latest };
}

async function describe(context: Context, table: Table) {
  const { recovery } = table;
  const { earliest, latest } = await restorableTimes(context, table);
  return {
    ContinuousBackupsDescription: {
      ContinuousBackupsStatus: 'ENABLED',
      PointInTimeRecoveryDescription: {
        PointInTimeRecoveryStatus: recovery ? 'ENABLED' : 'DISABLED',
        ...(recovery && {
          RecoveryPeriodInDays: recovery.days,
          EarliestRestorableDateTime: earliest / 1000,
          LatestRestorableDateTime: latest / 1000,
        }),
      },
    },
  };
}
