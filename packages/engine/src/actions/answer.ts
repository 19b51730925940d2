import { type CapacityMode, type ConsumedCapacity, consumedCapacity, type Usage } from '../capacity.ts';
import type { View } from '../context.ts';
import type { Page } from './page.ts';

type CapacityInput = { TableName: string; ReturnConsumedCapacity?: CapacityMode };

// Capacity is worked out only for those who ask.
export function capacityOf(
  { TableName, ReturnConsumedCapacity: mode }: CapacityInput,
  usage: () => Usage,
): { ConsumedCapacity?: ConsumedCapacity } | undefined {
  if (mode !== 'TOTAL' && mode !== 'INDEXES') return undefined;
  return { ConsumedCapacity: consumedCapacity(mode, TableName, usage())! };
}

type PageInput = CapacityInput & { Select?: string };

// How Query and Scan answer.
export const pageAnswer = <T>(input: PageInput, page: Page<T>, view: View<T>, usage: () => Usage) => ({
  Count: page.count,
  ScannedCount: page.scanned,
  ...(input.Select !== 'COUNT' && { Items: page.items }),
  ...(page.lastKey && { LastEvaluatedKey: view.present(page.lastKey) }),
  ...capacityOf(input, usage),
});
