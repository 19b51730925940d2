export const planNames = ['free', 'starter', 'pro', 'team'] as const;
export type PlanName = (typeof planNames)[number];

export type Plan = {
  readonly plan: PlanName;
  readonly eventsPerMonth: number;
  readonly eventsPerMinute: number;
  readonly retentionSeconds: number; // how long events are kept, from the moment they are received
};

export const plans: Readonly<Record<PlanName, Plan>> = {
  free: { plan: 'free', eventsPerMonth: 5_000, eventsPerMinute: 100, retentionSeconds: 86_400 },
  starter: { plan: 'starter', eventsPerMonth: 100_000, eventsPerMinute: 500, retentionSeconds: 604_800 },
  pro: { plan: 'pro', eventsPerMonth: 1_000_000, eventsPerMinute: 2_000, retentionSeconds: 2_592_000 },
  team: { plan: 'team', eventsPerMonth: 5_000_000, eventsPerMinute: 10_000, retentionSeconds: 7_776_000 },
};
