import { endpoint, json, readsOnly, route } from '@stak/http';
import { z } from 'zod';
import { userNotFound } from '../errors.ts';
import { type Plan, type PlanName, planOf, publicPlans, shownLimit } from '../plans.ts';
import { planDetailsSchema, usageSchema } from '../schema.ts';
import type { Users } from '../users/users.ts';
import type { StorageUse } from './storage/counts.ts';

const tags = ['accounts'];
const common = { tenant: 'none', mcp: false, tags } as const;

const routes = {
  getUsage: route({
    ...common,
    ...readsOnly,
    path: '/v1/usage',
    operationId: 'accounts.getUsage',
    auth: 'account',
    scope: 'read',
    summary: 'Get your usage this month and your storage',
    description: 'Returns the events of this month and the bytes stored, with the limits of the plan.',
    responses: { 200: json(usageSchema) },
  }),
  listPlans: route({
    ...common,
    ...readsOnly,
    path: '/v1/plans',
    operationId: 'accounts.listPlans',
    auth: 'public',
    summary: 'List the plans',
    description: 'Returns the plans with their limits and prices.',
    responses: { 200: json(z.strictObject({ data: z.array(planDetailsSchema), next_cursor: z.null() })) },
  }),
};

type UsageRoutesDeps = {
  users: Pick<Users, 'getById'>;
  plans: Readonly<Record<PlanName, Plan>>;
  defaultPlan: PlanName;
  readStorage(accountId: string): Promise<StorageUse>;
  countTenants(accountId: string): Promise<{ used: number | null; limit: number | null }>;
};

export function createUsageRoutes(deps: UsageRoutesDeps) {
  const { users, plans, defaultPlan } = deps;
  const shownPlans = [...new Set([...publicPlans, defaultPlan])].map(name => ({
    ...plans[name],
    eventsPerMonth: shownLimit(plans[name].eventsPerMonth),
    eventsPerMinute: shownLimit(plans[name].eventsPerMinute),
    seats: shownLimit(plans[name].seats),
  }));

  return [
    endpoint(routes.getUsage, async c => {
      const { accountId } = c.get('principal');
      const [user, use, tenants] = await Promise.all([
        users.getById(accountId),
        deps.readStorage(accountId),
        deps.countTenants(accountId),
      ]);
      if (!user) throw userNotFound();
      const { usageThisMonth, usagePeriodStart } = user;
      const plan = planOf(user, defaultPlan);
      const { storageBytes: limitBytes } = plans[plan];
      const eventsPerMonth = shownLimit(plans[plan].eventsPerMonth);
      const storage = {
        usedBytes: use.bytes,
        limitBytes,
        isComplete: use.isCounted,
        services: use.services,
      };
      return c.json({ usagePeriodStart, usageThisMonth, plan, eventsPerMonth, tenants, storage }, 200);
    }),
    endpoint(routes.listPlans, c => c.json({ data: shownPlans, next_cursor: null }, 200)),
  ] as const;
}
