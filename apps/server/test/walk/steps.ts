import { accountsSteps, lastSteps } from './accounts-steps.ts';
import type { Step } from './step.ts';
import { closingTenantsSteps, tenantsSteps } from './tenants-steps.ts';

// In the order in which a customer could do them: each service after what it builds on.
export const steps: readonly Step[] = [
  ...accountsSteps,
  ...tenantsSteps,
  ...closingTenantsSteps,
  ...lastSteps,
];
