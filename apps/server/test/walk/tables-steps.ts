import type { Step } from './step.ts';

// The owner is the operator here. Nobody else has an explorer, with whatever credentials.
export const tablesSteps: readonly Step[] = [
  { operation: 'tables.list', as: 'session' },
  { operation: 'tables.get', path: { table: 'todo-app-data' }, as: 'session' },
  { operation: 'tables.items', path: { table: 'todo-app-data' }, as: 'session' },
  {
    operation: 'tables.items',
    path: { table: 'stak-inbox' },
    query: { entity: 'user message' },
    as: 'session',
  },
  { operation: 'tables.changes', path: { table: 'todo-app-data' }, as: 'session' },
];
