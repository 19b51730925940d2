export const operationNames = ['put', 'update', 'query', 'parse'] as const;
export type OperationName = (typeof operationNames)[number];

// Builds a request, or reads an item, and gives back something of it so that none of the work can be skipped.
export type Contestant = { name: string; operations: Record<OperationName, () => unknown> };
