import type { Step } from './step.ts';

const everybody = { anything: 'it is the same for everybody' };

export const lakeSteps: readonly Step[] = [
  { operation: 'lake.query', body: { sql: 'select * from tasks' }, stranger: 'own' },
  { operation: 'lake.query', body: { sql: 'select * from users' }, as: 'endUser', stranger: 'own' },
  { operation: 'lake.export', body: { sql: 'select * from tasks', format: 'csv' }, stranger: 'own' },
  { operation: 'lake.history', path: { table: 'tasks', id: '{task_id}' }, stranger: 'own' },
  { operation: 'lake.icebergConfig', stranger: everybody },
  { operation: 'lake.icebergNamespaces', stranger: everybody },
  { operation: 'lake.icebergNamespace', path: { namespace: 'silver' }, stranger: everybody },
  { operation: 'lake.icebergTables', path: { namespace: 'silver' }, stranger: everybody },
  { operation: 'lake.icebergTable', path: { namespace: 'silver', table: 'tasks' }, stranger: 'own' },
  {
    operation: 'lake.icebergFile',
    as: 'nobody',
    path: { bucket: 'stak', table: 'silver.tasks', kind: 'metadata', file: 'v1.metadata.json' },
    status: 401,
    stranger: { anything: 'nobody reads a file without a signature' },
  },
  // The owner is the operator here, and a person. Nobody else has this catalog, with whatever credentials.
  { operation: 'lake.operatorIcebergConfig', as: 'session' },
  { operation: 'lake.operatorIcebergNamespaces', as: 'session' },
  { operation: 'lake.operatorIcebergNamespace', path: { namespace: 'silver' }, as: 'session' },
  { operation: 'lake.operatorIcebergTables', path: { namespace: 'silver' }, as: 'session' },
  {
    operation: 'lake.operatorIcebergTable',
    path: { namespace: 'silver', table: 'tasks' },
    as: 'session',
  },
  { operation: 'lake.readTexts', as: 'session', stranger: everybody },
  { operation: 'lake.setTexts', body: { enabled: false }, as: 'session', stranger: everybody },
  { operation: 'lake.status', stranger: everybody },
  { operation: 'insights.list', stranger: everybody },
  { operation: 'system.status', stranger: 'own' },
  { operation: 'system.permissions', stranger: 'own' },
  { operation: 'insights.read', path: { name: 'tasks-activity' }, stranger: 'own' },
];
