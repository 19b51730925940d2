import type { Context } from '../context.ts';
import type { TimeToLive } from '../storage/table.ts';
import { knownTable } from '../tables/known-table.ts';
import { type DescribeTimeToLiveInput, validateDescribeTimeToLive } from '../validation/time-to-live.ts';

export type DescribeTimeToLiveOutput = {
  TimeToLiveDescription: { TimeToLiveStatus: TimeToLive['status'] | 'DISABLED'; AttributeName?: string };
};

export function describeTimeToLive(
  context: Context,
  input: DescribeTimeToLiveInput,
): DescribeTimeToLiveOutput {
  validateDescribeTimeToLive(input);
  const { ttl } = knownTable(context, input.TableName);
  return {
    TimeToLiveDescription: ttl
      ? { TimeToLiveStatus: ttl.status, AttributeName: ttl.attribute }
      : { TimeToLiveStatus: 'DISABLED' },
  };
}
