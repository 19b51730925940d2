import type { Service } from '../deps.ts';
import { agentErrors } from '../errors.ts';
import { dateOf, type Payer, reserveSpend, settleSpend } from '../quota.ts';
import type { ModelName, Price } from './models.ts';

export type Budget = {
  // Before each step: what it may cost at most, or a refusal.
  reserve(name: ModelName, inputBytes: number, outputTokens: number): Promise<void>;
  // What a step has used.
  spend(name: ModelName, inputTokens: number, outputTokens: number): void;
  // Gives back what was reserved and not used.
  settle(): Promise<void>;
  readonly used: { input_tokens: number; output_tokens: number; cost_micros: number };
};

export function createBudget(
  service: Service,
  payer: Payer,
  capUsd: number | undefined,
  priceOf: (name: ModelName) => Price | undefined,
): Budget {
  const date = dateOf(service.clock.now());
  const used = { input_tokens: 0, output_tokens: 0, cost_micros: 0 };
  let reserved = 0;
  const costOf = ({ input, output }: Price, inputTokens: number, outputTokens: number) =>
    Math.ceil(inputTokens * input + outputTokens * output);
  return {
    used,
    async reserve(name, inputBytes, outputTokens) {
      const price = priceOf(name);
      if (!price && capUsd !== undefined)
        throw agentErrors.create(
          'agents.price_unknown',
          `${name.model} has no price, and spending is capped.`,
        );
      // No tokenizer makes more tokens than there are bytes.
      const micros = price ? costOf(price, inputBytes, outputTokens) : 0;
      if (micros === 0) return;
      await reserveSpend(service, payer.tenant_id, date, micros, capUsd);
      reserved += micros;
    },
    spend(name, inputTokens, outputTokens) {
      const price = priceOf(name);
      used.input_tokens += inputTokens;
      used.output_tokens += outputTokens;
      if (price) used.cost_micros += costOf(price, inputTokens, outputTokens);
    },
    settle: () => settleSpend(service, payer, date, used, reserved),
  };
}
