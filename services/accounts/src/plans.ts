export const planNames = ['free', 'starter', 'pro', 'team'] as const;
export type PlanName = (typeof planNames)[number];

export type Plan = {
  readonly plan: PlanName;
  readonly eventsPerMonth: number;
  readonly eventsPerMinute: number;
  readonly retentionSeconds: number; // how long events are kept, from the moment they are received
  readonly storageBytes: number | null; // of everything the account and its tenants have; null: no limit
};

export const plans: Readonly<Record<PlanName, Plan>> = {
  free: {
    plan: 'free',
    eventsPerMonth: 5_000,
    eventsPerMinute: 100,
    retentionSeconds: 86_400,
    storageBytes: 250_000_000,
  },
  starter: {
    plan: 'starter',
    eventsPerMonth: 100_000,
    eventsPerMinute: 500,
    retentionSeconds: 604_800,
    storageBytes: 5_000_000_000,
  },
  pro: {
    plan: 'pro',
    eventsPerMonth: 1_000_000,
    eventsPerMinute: 2_000,
    retentionSeconds: 2_592_000,
    storageBytes: 50_000_000_000,
  },
  team: {
    plan: 'team',
    eventsPerMonth: 5_000_000,
    eventsPerMinute: 10_000,
    retentionSeconds: 7_776_000,
    storageBytes: 250_000_000_000,
  },
};

// An installation may keep more or less for a plan than the table says; null lifts the limit.
export type StorageLimits = Readonly<Partial<Record<PlanName, number | null>>>;

export const plansWith = (limits: StorageLimits): Readonly<Record<PlanName, Plan>> => {
  const limited = planNames.map(name => {
    const storageBytes = limits[name] === undefined ? plans[name].storageBytes : limits[name];
    return [name, { ...plans[name], storageBytes }];
  });
  return Object.fromEntries(limited);
};
