import { type CapacityMode, type ConsumedCapacity, consumedCapacity, type Usage } from '../capacity.ts';

type CapacityInput = { TableName: string; ReturnConsumedCapacity?: CapacityMode };

// Capacity is worked out only for those who ask.
export function capacityOf(
  { TableName, ReturnConsumedCapacity: mode }: CapacityInput,
  usage: () => Usage,
): { ConsumedCapacity?: ConsumedCapacity } | undefined {
  if (mode !== 'TOTAL' && mode !== 'INDEXES') return undefined;
  return { ConsumedCapacity: consumedCapacity(mode, TableName, usage())! };
}
