import type { Context } from '../context.ts';
import { validationError } from '../errors.ts';
import type { Table, TimeToLive } from '../storage/table.ts';
import { knownTable } from '../tables/known-table.ts';
import { maintainTable } from '../tables/maintenance.ts';
import { type UpdateTimeToLiveInput, validateUpdateTimeToLive } from '../validation/time-to-live.ts';

type Output = { TimeToLiveSpecification: { Enabled: boolean; AttributeName: string } };

export async function updateTimeToLive(context: Context, input: UpdateTimeToLiveInput): Promise<Output> {
  validateUpdateTimeToLive(input);
  const { Enabled, AttributeName } = input.TimeToLiveSpecification;
  const table = await context.submit(tx => {
    const current = knownTable(context, input.TableName);
    checkChange(current.ttl, Enabled, AttributeName);
    const ttl: TimeToLive = { attribute: AttributeName, status: Enabled ? 'ENABLING' : 'DISABLING' };
    const next: Table = { ...current, ttl };
    context.catalog.save(tx, next);
    return next;
  });
  maintainTable(context, table);
  return { TimeToLiveSpecification: { Enabled, AttributeName } };
}

function checkChange(current: TimeToLive | undefined, enable: boolean, attribute: string): void {
  if (!current) {
    if (!enable) throw validationError('TimeToLive is already disabled');
    return;
  }
  if (current.status !== 'ENABLED') {
    throw validationError('Time to live has been modified multiple times within a fixed interval');
  }
  if (current.attribute !== attribute) {
    throw validationError(
      `TimeToLive is active on a different AttributeName: current AttributeName is ${current.attribute}`,
    );
  }
  if (enable) throw validationError('TimeToLive is already enabled');
}
