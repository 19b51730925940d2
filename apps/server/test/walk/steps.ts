import { accountsSteps, lastSteps } from './accounts-steps.ts';
import { agentsSteps } from './agents-steps.ts';
import { inboxSteps } from './inbox-steps.ts';
import { lakeSteps } from './lake-steps.ts';
import type { Step } from './step.ts';
import { tablesSteps } from './tables-steps.ts';
import { tasksSteps } from './tasks-steps.ts';
import { closingTenantsSteps, tenantsSteps } from './tenants-steps.ts';
import { webhooksSteps } from './webhooks-steps.ts';

// In the order in which a customer could do them: each service after what it builds on.
export const steps: readonly Step[] = [
  ...accountsSteps,
  ...tenantsSteps,
  ...inboxSteps,
  ...webhooksSteps,
  ...tasksSteps,
  ...agentsSteps,
  ...lakeSteps,
  ...tablesSteps,
  ...closingTenantsSteps,
  ...lastSteps,
];
