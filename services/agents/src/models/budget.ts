import { isUnavailable } from '@stak/table';
import type { Base, EnteredTenant, ModelDeps, Service } from '../deps.ts';
import { agentErrors } from '../errors.ts';
import * as limits from '../limits.ts';
import { accountDay, agentDay, tenantDay } from '../main-table.ts';
import { readAgentSettings } from '../settings.ts';
import {
  dateOf,
  type Payer,
  reserveSpend,
  type Spent,
  settleAccountSpend,
  settleSpend,
} from '../usage/quota.ts';
import { reportRefusal, reportSpend } from '../usage/spend-share.ts';
import type { ModelName, Models, Price } from './models.ts';

export type Budget = {
  // Reserves the maximum cost of a step before it starts, or refuses it.
  reserve(name: ModelName, inputBytes: number, outputTokens: number): Promise<void>;
  // Records what a step has used.
  spend(name: ModelName, inputTokens: number, outputTokens: number, cachedTokens?: number): void;
  // Gives back what was reserved but not used.
  settle(): Promise<void>;
  readonly used: { input_tokens: number; output_tokens: number; cost_micros: number };
};

export type Caps = {
  tenantUsd: number | undefined; // the tenant's own limit per day
  accountUsd: number | undefined; // the operator's limit for the account per day
  agentUsd?: number | undefined; // the limit of the agent per day
};

// What one turn costs, with the agents that are asked in it.
export type TurnSpend = {
  readonly asked: Spent; // by other agents, since the model was asked
  begin(spentMicros: number, capUsd: number | undefined): void;
  hasLimit(): boolean;
  // Reserves this much more, or refuses it.
  reserve(micros: number): void;
  add(used: Spent): void;
};

export function createTurnSpend(): TurnSpend {
  let booked = 0;
  let capUsd: number | undefined;
  const asked = { input_tokens: 0, output_tokens: 0, cost_micros: 0 };
  return {
    asked,
    begin(spentMicros, usd) {
      booked = spentMicros;
      capUsd = usd;
      Object.assign(asked, { input_tokens: 0, output_tokens: 0, cost_micros: 0 });
    },
    hasLimit: () => capUsd !== undefined,
    reserve(micros) {
      if (micros > 0 && capUsd !== undefined && booked + micros > capUsd * limits.microsPerUsd)
        throw agentErrors.create(
          'agents.spend_exceeded',
          `A turn of this agent may cost at most $${capUsd}.`,
          {
            scope: 'turn',
            limit_usd: capUsd,
          },
        );
      booked += micros;
    },
    add(used) {
      asked.input_tokens += used.input_tokens;
      asked.output_tokens += used.output_tokens;
      asked.cost_micros += used.cost_micros;
    },
  };
}

type BudgetOptions = {
  turn?: TurnSpend;
  isPart?: boolean; // of a turn that is counted already
};

// A budget for requests on behalf of a tenant's user, within the limits of the tenant and the operator.
export async function openBudget(
  service: Base & ModelDeps,
  { tenant_id, account_id, settings }: EnteredTenant,
  user_id: string | undefined,
  options: BudgetOptions = {},
): Promise<Budget> {
  const { spend_per_day_usd: tenantUsd, profile } = readAgentSettings(settings);
  const accountUsd = await service.spendPerDayUsd(account_id);
  const prices = service.models ?? { priceOf: () => undefined };
  const { name, version, spend_per_day_usd: agentUsd } = profile;
  const agent = version === undefined ? undefined : name; // that of the settings has no limit of its own
  const caps = { tenantUsd, accountUsd, agentUsd };
  return createBudget(service, { tenant_id, account_id, user_id, agent }, caps, prices, options);
}

export function createBudget(
  service: Base & Pick<Service, 'onShareUsed' | 'reportedShares'>,
  payer: Partial<Payer> & { account_id: string; agent?: string }, // without a tenant, the account pays itself
  caps: Caps,
  { priceOf, limitPriceOf }: Pick<Models, 'priceOf' | 'limitPriceOf'>,
  { turn, isPart = false }: BudgetOptions = {},
): Budget {
  const { tenant_id, account_id } = payer;
  const date = dateOf(service.clock.now());
  const used = { input_tokens: 0, output_tokens: 0, cost_micros: 0 };
  // The amounts that this budget has written into the days: spent, and reserved for a step.
  const ofTenant = { booked: 0, open: 0 };
  const ofAgent = { booked: 0, open: 0 };
  const ofAccount = { booked: 0, used: 0, reported: 0 };
  let ofTurn = 0;
  const limit = { account_id, date, limitUsd: caps.accountUsd ?? 0 }; // nothing is reserved of one that is absent
  // `cachedTokens` is the part of the input that the provider has read before.
  const costOf = (
    { input, output, cached = input }: Price,
    inputTokens: number,
    outputTokens: number,
    cachedTokens = 0,
  ) => Math.ceil((inputTokens - cachedTokens) * input + cachedTokens * cached + outputTokens * output);
  // With the next step, what earlier ones have reserved and not used is given back.
  const reserveOfAccount = async (most: number) => {
    const booked = ofAccount.used + most;
    const change = {
      spend_micros: booked - ofAccount.booked,
      used_micros: ofAccount.used - ofAccount.reported,
    };
    try {
      await reserveSpend(
        service,
        accountDay,
        { account_id, date },
        { stepMicros: most, ...change },
        caps.accountUsd,
      );
    } catch (error) {
      if (agentErrors.includes(error)) void reportRefusal(service, limit, most);
      throw error;
    }
    Object.assign(ofAccount, { booked, reported: ofAccount.used });
  };
  type DayBooked = typeof ofTenant;
  const reserveOfDay = async (
    day: typeof tenantDay | typeof agentDay,
    key: { tenant_id: string; date: string } | { tenant_id: string; agent: string; date: string },
    written: DayBooked,
    micros: number,
    capUsd: number | undefined,
  ) => {
    const booked = used.cost_micros + micros;
    const change = { spend_micros: booked - written.booked, reserved_micros: micros - written.open };
    await reserveSpend(service, day, key, { stepMicros: micros, ...change }, capUsd);
    Object.assign(written, { booked, open: micros });
  };
  const { agent } = payer;
  return {
    used,
    async reserve(name, inputBytes, outputTokens) {
      const price = priceOf(name);
      if (!price && (caps.tenantUsd !== undefined || caps.agentUsd !== undefined || turn?.hasLimit()))
        throw agentErrors.create(
          'agents.price_unknown',
          `${name.model} has no price, so spending cannot be limited.`,
        );
      const micros = price ? costOf(price, inputBytes, outputTokens) : 0;
      turn?.reserve(used.cost_micros + micros - ofTurn);
      ofTurn = used.cost_micros + micros;
      // No tokenizer makes more tokens than there are bytes.
      const limitPrice = caps.accountUsd === undefined ? undefined : limitPriceOf?.(name);
      const most = limitPrice ? costOf(limitPrice, inputBytes, outputTokens) : 0;
      if (most > 0) await reserveOfAccount(most);
      if (micros === 0 || tenant_id === undefined) return;
      await reserveOfDay(tenantDay, { tenant_id, date }, ofTenant, micros, caps.tenantUsd);
      if (agent !== undefined)
        await reserveOfDay(agentDay, { tenant_id, agent, date }, ofAgent, micros, caps.agentUsd);
    },
    spend(name, inputTokens, outputTokens, cachedTokens = 0) {
      const price = priceOf(name);
      const limitPrice = limitPriceOf?.(name);
      const tokens = [inputTokens, outputTokens, Math.min(cachedTokens, inputTokens)] as const;
      used.input_tokens += inputTokens;
      used.output_tokens += outputTokens;
      if (price) used.cost_micros += costOf(price, ...tokens);
      if (limitPrice && ofAccount.booked > 0) ofAccount.used += costOf(limitPrice, ...tokens);
    },
    // An answer that was made is not lost because the store is too busy to count what it cost: what was reserved for it
    // stays reserved.
    async settle() {
      turn?.reserve(Math.min(0, used.cost_micros - ofTurn));
      ofTurn = used.cost_micros;
      try {
        const written = { tenant: ofTenant, agent: ofAgent, isPart };
        if (tenant_id !== undefined)
          await settleSpend(service, { tenant_id, user_id: payer.user_id, agent }, date, used, written);
        if (ofAccount.booked === 0) return;
        const change = {
          spend_micros: ofAccount.used - ofAccount.booked,
          used_micros: ofAccount.used - ofAccount.reported,
        };
        void reportSpend(service, limit, await settleAccountSpend(service, { account_id, date }, change));
      } catch (error) {
        if (!isUnavailable(error)) throw error;
        service.log.warn({ err: error, tenant_id, account_id }, 'what an answer cost was not counted');
      }
    },
  };
}
