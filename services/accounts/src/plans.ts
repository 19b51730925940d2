import type { Logger } from '@stak/kit';

// `selfhosted` is for people who run the server themselves, and is not for sale.
export const planNames = ['free', 'starter', 'pro', 'team', 'selfhosted'] as const;
export type PlanName = (typeof planNames)[number];
export const publicPlans = planNames.filter(name => name !== 'selfhosted');

// More than one machine takes in a minute or a century. A number, because limits are compared and calculated with.
const unlimited = 1_000_000_000;

export type Plan = {
  readonly plan: PlanName;
  readonly eventsPerMonth: number;
  readonly eventsPerMinute: number;
  readonly retentionSeconds: number; // how long events are kept, from the moment they are received
  readonly seats: number; // members of the organisation
  readonly storageBytes: number | null; // of everything the account and its tenants store; null: no limit
  readonly tenants: number | null; // null, here and below: no limit
  readonly usersPerTenant: number | null; // end users
  readonly modelUsdPerDay: number | null; // what all tenants together spend on models; operators may override it
  readonly query: { rows: number; bytes: number; seconds: number }; // of one SQL query: its result and its time
};

export const plans: Readonly<Record<PlanName, Plan>> = {
  free: {
    plan: 'free',
    eventsPerMonth: 5_000,
    eventsPerMinute: 100,
    retentionSeconds: 86_400,
    seats: 3,
    storageBytes: 250_000_000,
    tenants: 3,
    usersPerTenant: 100,
    modelUsdPerDay: 1,
    query: { rows: 10_000, bytes: 4_000_000, seconds: 10 },
  },
  starter: {
    plan: 'starter',
    eventsPerMonth: 100_000,
    eventsPerMinute: 500,
    retentionSeconds: 604_800,
    seats: 5,
    storageBytes: 5_000_000_000,
    tenants: 10,
    usersPerTenant: 1_000,
    modelUsdPerDay: 10,
    query: { rows: 50_000, bytes: 16_000_000, seconds: 10 },
  },
  pro: {
    plan: 'pro',
    eventsPerMonth: 1_000_000,
    eventsPerMinute: 2_000,
    retentionSeconds: 2_592_000,
    seats: 15,
    storageBytes: 50_000_000_000,
    tenants: 100,
    usersPerTenant: 5_000,
    modelUsdPerDay: 50,
    query: { rows: 250_000, bytes: 64_000_000, seconds: 20 },
  },
  team: {
    plan: 'team',
    eventsPerMonth: 5_000_000,
    eventsPerMinute: 10_000,
    retentionSeconds: 7_776_000,
    seats: 50,
    storageBytes: 250_000_000_000,
    tenants: 1_000,
    usersPerTenant: 25_000,
    modelUsdPerDay: 200,
    query: { rows: 1_000_000, bytes: 256_000_000, seconds: 30 },
  },
  selfhosted: {
    plan: 'selfhosted',
    eventsPerMonth: Number.MAX_SAFE_INTEGER,
    eventsPerMinute: unlimited,
    retentionSeconds: 7_776_000,
    seats: unlimited,
    storageBytes: null,
    tenants: null,
    usersPerTenant: null,
    modelUsdPerDay: null,
    query: { rows: 1_000_000, bytes: 256_000_000, seconds: 30 },
  },
};

// For display: null where there is no limit.
export const shownLimit = (limit: number): number | null => (limit >= unlimited ? null : limit);

type Bought = { plan: PlanName; planFixed?: boolean };

const isKnown = (plan: string): plan is PlanName => planNames.some(name => name === plan);

// The plan of an account. An account that neither bought a plan nor was given one by an operator has the installation's
// default, and follows it when it changes. A stored plan that is unknown, because it was retired or belongs to a newer
// version, counts as the default too.
export const planOf = ({ plan, planFixed }: Bought, defaultPlan: PlanName): PlanName =>
  isKnown(plan) && (plan !== 'free' || planFixed) ? plan : defaultPlan;

type PlanReaderDeps = {
  readProfile(accountId: string): Promise<Bought | undefined>;
  plans: Readonly<Record<PlanName, Plan>>;
  defaultPlan: PlanName;
  log: Pick<Logger, 'warn'>;
};

/** Reads what the plan of an account allows. An account that does not exist has the free plan. */
export function createPlanReader({ readProfile, plans, defaultPlan, log }: PlanReaderDeps) {
  const logged = new Set<string>();
  return async (accountId: string): Promise<Plan> => {
    const bought = await readProfile(accountId);
    if (!bought) return plans.free;
    const name = planOf(bought, defaultPlan);
    if (!isKnown(bought.plan) && !logged.has(bought.plan)) {
      logged.add(bought.plan);
      const facts = { account_id: accountId, stored_plan: bought.plan, plan: name };
      log.warn(facts, 'an account has a plan that is not known here; the default plan applies to it');
    }
    return plans[name];
  };
}

// An installation may store more or less for a plan than the table above; null lifts the limit.
export type StorageLimits = Readonly<Partial<Record<PlanName, number | null>>>;

export const plansWith = (limits: StorageLimits): Readonly<Record<PlanName, Plan>> => {
  const limited = planNames.map(name => {
    const storageBytes = limits[name] === undefined ? plans[name].storageBytes : limits[name];
    return [name, { ...plans[name], storageBytes }];
  });
  return Object.fromEntries(limited);
};
