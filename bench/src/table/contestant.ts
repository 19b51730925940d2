export const operationNames = ['put', 'update', 'query', 'parse'] as const;
export type OperationName = (typeof operationNames)[number];

// Builds a request, or reads an item, and returns part of it so that none of the work can be optimised away.
export type Contestant = { name: string; operations: Record<OperationName, () => unknown> };
