import type { Step } from './step.ts';

const everybody = { anything: 'it is the same for everybody' };

export const lakeSteps: readonly Step[] = [
  { operation: 'lake.query', body: { sql: 'select * from tasks' }, stranger: 'own' },
  { operation: 'lake.query', body: { sql: 'select * from users' }, as: 'endUser', stranger: 'own' },
  { operation: 'lake.status', stranger: everybody },
  { operation: 'insights.list', stranger: everybody },
  { operation: 'system.status', stranger: 'own' },
  { operation: 'insights.read', path: { name: 'tasks-activity' }, stranger: 'own' },
];
