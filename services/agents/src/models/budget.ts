import type { Entered, Service } from '../deps.ts';
import { agentErrors } from '../errors.ts';
import { readAgentSettings } from '../settings.ts';
import { accountDay, tenantDay } from '../table.ts';
import { dateOf, type Payer, reserveSpend, settleAccountSpend, settleSpend } from '../usage/quota.ts';
import { reportRefusal, reportSpend } from '../usage/spend-share.ts';
import type { ModelName, Models, Price } from './models.ts';

export type Budget = {
  // Reserves the maximum cost of a step before it starts, or refuses it.
  reserve(name: ModelName, inputBytes: number, outputTokens: number): Promise<void>;
  // Records what a step has used.
  spend(name: ModelName, inputTokens: number, outputTokens: number): void;
  // Returns what was reserved but not used.
  settle(): Promise<void>;
  readonly used: { input_tokens: number; output_tokens: number; cost_micros: number };
};

export type Caps = {
  tenantUsd: number | undefined; // the tenant's own limit per day
  accountUsd: number | undefined; // the operator's limit for the account per day
};

// A budget for requests on behalf of a tenant's user, within the limits of the tenant and the operator.
export async function openBudget(
  service: Service,
  { tenant_id, account_id, settings }: Entered,
  user_id: string | undefined,
): Promise<Budget> {
  const { spend_per_day_usd: tenantUsd } = readAgentSettings(settings);
  const accountUsd = await service.spendPerDayUsd(account_id);
  const prices = service.models ?? { priceOf: () => undefined };
  return createBudget(service, { tenant_id, account_id, user_id }, { tenantUsd, accountUsd }, prices);
}

export function createBudget(
  service: Service,
  payer: Partial<Payer> & { account_id: string }, // without a tenant, the account pays itself
  caps: Caps,
  { priceOf, limitPriceOf }: Pick<Models, 'priceOf' | 'limitPriceOf'>,
): Budget {
  const { tenant_id, account_id } = payer;
  const date = dateOf(service.clock.now());
  const used = { input_tokens: 0, output_tokens: 0, cost_micros: 0 };
  let reserved = 0;
  const ofAccount = { reserved: 0, used: 0 };
  const limit = { account_id, date, limitUsd: caps.accountUsd ?? 0 }; // nothing is reserved of one that is absent
  const costOf = ({ input, output }: Price, inputTokens: number, outputTokens: number) =>
    Math.ceil(inputTokens * input + outputTokens * output);
  return {
    used,
    async reserve(name, inputBytes, outputTokens) {
      const price = priceOf(name);
      if (!price && caps.tenantUsd !== undefined)
        throw agentErrors.create(
          'agents.price_unknown',
          `${name.model} has no price, so spending cannot be limited.`,
        );
      // No tokenizer makes more tokens than there are bytes.
      const limitPrice = caps.accountUsd === undefined ? undefined : limitPriceOf?.(name);
      const most = limitPrice ? costOf(limitPrice, inputBytes, outputTokens) : 0;
      if (most > 0) {
        try {
          await reserveSpend(service, accountDay, { account_id, date }, most, caps.accountUsd);
        } catch (error) {
          if (agentErrors.includes(error)) void reportRefusal(service, limit, most);
          throw error;
        }
        ofAccount.reserved += most;
      }
      const micros = price ? costOf(price, inputBytes, outputTokens) : 0;
      if (micros === 0 || tenant_id === undefined) return;
      await reserveSpend(service, tenantDay, { tenant_id, date }, micros, caps.tenantUsd);
      reserved += micros;
    },
    spend(name, inputTokens, outputTokens) {
      const price = priceOf(name);
      const limitPrice = limitPriceOf?.(name);
      used.input_tokens += inputTokens;
      used.output_tokens += outputTokens;
      if (price) used.cost_micros += costOf(price, inputTokens, outputTokens);
      if (limitPrice && ofAccount.reserved > 0)
        ofAccount.used += costOf(limitPrice, inputTokens, outputTokens);
    },
    async settle() {
      if (tenant_id !== undefined)
        await settleSpend(service, { tenant_id, user_id: payer.user_id }, date, used, reserved);
      if (ofAccount.reserved === 0) return;
      const spentMicros = await settleAccountSpend(service, { account_id, date }, ofAccount);
      void reportSpend(service, limit, spentMicros);
    },
  };
}
