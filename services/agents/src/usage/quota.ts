import { AppError } from '@stak/kit';
import {
  type AnyEntity,
  failedCondition,
  is,
  isRefused,
  isUnavailable,
  type NamedStep,
  or,
  write,
} from '@stak/table';
import { type Service, secondsOf, ttlAfter } from '../deps.ts';
import { agentErrors } from '../errors.ts';
import * as limits from '../limits.ts';
import { accountDay, agentDay, tenantDay, userDay } from '../main-table.ts';
import type { AgentSettings } from '../settings.ts';

export type Payer = { tenant_id: string; user_id?: string };

export const dateOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

const dayMs = 24 * 60 * 60 * 1000;
const resetOf = (nowMs: number): number => (Math.floor(nowMs / dayMs) + 1) * dayMs;

// A message counts when it is accepted, on the condition that there is room: of concurrent messages, as many pass as
// there is room for.
export async function reserveMessage(
  service: Pick<Service, 'store' | 'clock' | 'countMessage'>,
  { tenant_id, user_id }: Payer,
  settings: AgentSettings,
): Promise<string> {
  const nowMs = service.clock.now();
  const date = dateOf(nowMs);
  const ttl = ttlAfter(nowMs, limits.usageDays);
  const { messages_per_day, messages_per_user_per_day: most = Number.MAX_SAFE_INTEGER } = settings;
  const { countMessage: count } = service;
  // The user's first: what is taken and given back is then their own, and no other user is refused because of it.
  if (user_id !== undefined && !(await count({ tenant_id, user_id, date }, ttl, most)))
    throw exceeded('user', most, nowMs);
  const isCounted = await count({ tenant_id, date }, ttl, messages_per_day);
  if (isCounted) return date;
  if (user_id !== undefined)
    await service.store.update(userDay, { tenant_id, user_id, date }, { add: { messages: -1 } });
  throw exceeded('tenant', messages_per_day, nowMs);
}

// Counts a message in the transaction that answers it. Only for a local store: elsewhere, transactions that meet in the
// tenant's day refuse each other.
export function quotaSteps(
  service: Pick<Service, 'clock'>,
  { tenant_id, user_id }: Payer,
  { messages_per_day, messages_per_user_per_day }: AgentSettings,
): { steps: NamedStep[]; date: string; refusalOf(error: unknown): Error | undefined } {
  const nowMs = service.clock.now();
  const date = dateOf(nowMs);
  const set = { ttl: ttlAfter(nowMs, limits.usageDays) };
  const change = { set, add: { messages: 1 } };
  const upTo = (most = Number.MAX_SAFE_INTEGER) => {
    const isBelow = { messages: is.below(most) };
    return { upsert: true, if: most > 0 ? or({ messages: is.absent }, isBelow) : isBelow };
  };
  const steps: NamedStep[] = [
    ['quota of the tenant', write.update(tenantDay, { tenant_id, date }, change, upTo(messages_per_day))],
  ];
  if (user_id !== undefined) {
    const key = { tenant_id, user_id, date };
    steps.push(['quota of the user', write.update(userDay, key, change, upTo(messages_per_user_per_day))]);
  }
  const refusalOf = (error: unknown) => {
    if (failedCondition(error, 'quota of the user'))
      return exceeded('user', messages_per_user_per_day!, nowMs);
    if (failedCondition(error, 'quota of the tenant')) return exceeded('tenant', messages_per_day, nowMs);
    return undefined;
  };
  return { steps, date, refusalOf };
}

function exceeded(scope: 'tenant' | 'user', limit: number, nowMs: number) {
  const resetMs = resetOf(nowMs);
  return agentErrors.create(
    'agents.quota_exceeded',
    `The ${scope} has used its ${limit} messages for today.`,
    {
      scope,
      limit,
      resets_at: new Date(resetMs).toISOString(),
      retryAfterS: secondsOf(resetMs - nowMs) + 1,
    },
  );
}

// For a message without an answer. Called after the message is marked as dropped, which one process does once: a crash
// in between counts one message too many, never one too few.
export async function refundMessage(
  service: Pick<Service, 'store'>,
  { tenant_id, user_id }: Payer,
  date: string | undefined,
): Promise<void> {
  if (date === undefined) return;
  const change = { add: { messages: -1, refunded: 1 } };
  await service.store.update(tenantDay, { tenant_id, date }, change, { upsert: true, pattern: 'refund' });
  if (user_id !== undefined)
    await service.store.update(userDay, { tenant_id, user_id, date }, change, {
      upsert: true,
      pattern: 'refund',
    });
}

// Whether nothing was written for certain. If the store did not respond, it may have been: then the message counts.
export const isRefusal = (error: unknown): boolean => error instanceof AppError && !isUnavailable(error);

// A reservation: for the next step, and what it changes in the day beside what earlier steps of the turn have spent of
// their own.
export type Reservation = { stepMicros: number; spend_micros: number } & (
  | { reserved_micros: number }
  | { used_micros: number }
);

type SpendDay = typeof tenantDay | typeof agentDay | typeof accountDay;

// The maximum cost of a model's step is reserved before it is made, so the limit is never exceeded. The account's is
// reserved first, for the operator.
export async function reserveSpend(
  service: Pick<Service, 'store' | 'clock'>,
  day: SpendDay,
  key: { tenant_id: string; date: string } | { account_id: string; date: string },
  { stepMicros, ...micros }: Reservation,
  capUsd: number | undefined,
): Promise<void> {
  const nowMs = service.clock.now();
  const capMicros = capUsd === undefined ? undefined : Math.floor(capUsd * limits.microsPerUsd);
  const refusal = (isSpent: boolean) => spent(scopeOf(day), capUsd!, nowMs, isSpent);
  if (capMicros !== undefined && stepMicros > capMicros) throw refusal(true);
  const most = capMicros === undefined ? undefined : capMicros - micros.spend_micros;
  const hasRoom =
    most === undefined ? undefined : or({ spend_micros: is.absent }, { spend_micros: is.atMost(most) });
  const ttl = ttlAfter(nowMs, limits.usageDays);
  try {
    await service.store.update(
      day as AnyEntity,
      key as never,
      { set: { ttl }, add: micros } as never,
      { upsert: true, ...(hasRoom && { if: hasRoom }), pattern: 'reserve spending' } as never,
    );
  } catch (error) {
    if (!isRefused(error)) throw error;
    throw refusal((await readSpent(service, day, key)) + stepMicros > capMicros!);
  }
}

type Day = Partial<Record<'spend_micros' | 'reserved_micros' | 'used_micros', number>>;

// What is spent for certain, without what is reserved for answers in progress.
export const spentOf = ({ spend_micros = 0, reserved_micros = 0 }: Day): number =>
  spend_micros - reserved_micros;

async function readSpent(
  { store }: Pick<Service, 'store'>,
  day: SpendDay,
  key: { date: string },
): Promise<number> {
  const options = { consistent: true, pattern: 'read spending' };
  const found = ((await store.get(day as AnyEntity, key as never, options)) ?? {}) as Day;
  return found.used_micros ?? spentOf(found);
}

// The day's money is spent, or a model without a price may not be asked: a later attempt is refused as well. Unlike
// money that is reserved for other answers, most of which is given back.
export const isSpent = (error: unknown): boolean =>
  agentErrors.includes(error) &&
  (error.code === 'agents.price_unknown' ||
    (error.code === 'agents.spend_exceeded' && Object(error.details).is_reserved !== true));

type Scope = 'account' | 'tenant' | 'agent';
const scopeOf = (day: SpendDay): Scope => {
  if (day === accountDay) return 'account';
  return day === agentDay ? 'agent' : 'tenant';
};
const limitedBy = {
  account: { whose: 'The account', by: 'the operator of the server' },
  tenant: { whose: 'The tenant', by: 'its settings' },
  agent: { whose: 'The agent', by: 'its definition' },
};

function spent(scope: Scope, capUsd: number, nowMs: number, isSpent: boolean) {
  const resetMs = resetOf(nowMs);
  const { whose, by } = limitedBy[scope];
  return agentErrors.create(
    'agents.spend_exceeded',
    `${whose} has reached what ${by} allows for models a day: $${capUsd}.`,
    {
      scope,
      limit_usd: capUsd,
      resets_at: new Date(resetMs).toISOString(),
      ...(!isSpent && { is_reserved: true }), // for answers in progress
      retryAfterS: isSpent ? secondsOf(resetMs - nowMs) + 1 : limits.busyRetryS,
    },
  );
}

// What is still to be changed in an account's day after the last step. Returns what is spent by now.
export async function settleAccountSpend(
  { store }: Pick<Service, 'store'>,
  key: { account_id: string; date: string },
  add: { spend_micros: number; used_micros: number },
): Promise<number> {
  const change = { add };
  const options = { upsert: true, pattern: 'settle spending' };
  const { used_micros = 0 } = await store.update(accountDay, key, change, options);
  return used_micros;
}

export type Spent = { input_tokens: number; output_tokens: number; cost_micros: number };

// What was reserved in a day: `booked` includes what earlier steps have spent, and `open` is for the last one.
type Booked = { booked: number; open: number };
type Written = { tenant: Booked; agent: Booked; isPart: boolean };

// The tokens of a turn, and what was reserved for it and not spent.
export async function settleSpend(
  { store }: Pick<Service, 'store'>,
  { tenant_id, user_id, agent }: Payer & { agent: string | undefined },
  date: string,
  { input_tokens, output_tokens, cost_micros }: Spent,
  { tenant, agent: ofAgent, isPart }: Written,
): Promise<void> {
  const tokens = { model_turns: output_tokens > 0 && !isPart ? 1 : 0, input_tokens, output_tokens };
  const options = { upsert: true, pattern: 'settle spending' };
  const settled = ({ booked, open }: Booked) => ({
    add: { ...tokens, spend_micros: cost_micros - booked, reserved_micros: -open },
  });
  await store.update(tenantDay, { tenant_id, date }, settled(tenant), options);
  if (agent !== undefined)
    await store.update(agentDay, { tenant_id, agent, date }, settled(ofAgent), options);
  if (user_id !== undefined)
    await store.update(
      userDay,
      { tenant_id, user_id, date },
      { add: { ...tokens, spend_micros: cost_micros } },
      options,
    );
}
