import { type CapacityMode, type ConsumedCapacity, consumedCapacity, type Usage } from '../capacity.ts';
import type { View } from '../context.ts';
import type { Page } from '../items/page.ts';

type CapacityInput = { TableName: string; ReturnConsumedCapacity?: CapacityMode };

// Capacity is computed only if it is requested.
export function capacityOf(
  { TableName, ReturnConsumedCapacity: mode }: CapacityInput,
  usage: () => Usage,
): { ConsumedCapacity?: ConsumedCapacity } | undefined {
  if (mode !== 'TOTAL' && mode !== 'INDEXES') return undefined;
  return { ConsumedCapacity: consumedCapacity(mode, TableName, usage())! };
}

type PageInput = CapacityInput & { Select?: string };

// The response of Query and Scan.
export const pageResponse = <T>(input: PageInput, page: Page<T>, view: View<T>, usage: () => Usage) => ({
  Count: page.count,
  ScannedCount: page.scanned,
  ...(input.Select !== 'COUNT' && { Items: page.items }),
  ...(page.lastKey && { LastEvaluatedKey: view.present(page.lastKey) }),
  ...capacityOf(input, usage),
});
