import { createMemoryRateLimits, type ProblemDetails, type Verdict } from '@stak/http';
import type { Clock } from '@stak/kit';
import type { AccountPlan, WebhookDeps } from './deps.ts';
import { webhookErrors } from './errors.ts';
import * as limits from './limits.ts';

export type Admission = {
  // Counts one event against the account's plan, or throws what the sender is answered.
  admit(userId: string): Promise<AccountPlan>;
  // Counts one request to a source that there is, before its signature is looked at: a flood of forged ones costs that
  // source, and no other.
  admitSource(sourceId: string): void;
};

type Account = AccountPlan & { used: number; since: string };
type Entry = { loading: Promise<Account>; untilMs: number };

export function createAdmission(
  deps: Pick<WebhookDeps, 'planOf' | 'usageOf' | 'requestsPerSource' | 'rates'> & { clock: Clock },
): Admission {
  const { clock, rates = createMemoryRateLimits() } = deps;
  const entries = new Map<string, Entry>();
  const perSource = {
    name: 'source',
    limit: deps.requestsPerSource ?? limits.requestsPerSource,
    windowMs: limits.rateWindowMs,
  };

  // The count is a second or two behind, and what this process has admitted since is known here. What others have is
  // not: an account may exceed its month by what they take in a few seconds.
  const load = async (userId: string, before: Promise<Account> | undefined): Promise<Account> => {
    const [plan, usage] = await Promise.all([deps.planOf(userId), deps.usageOf(userId)]);
    const known = await before?.catch(() => undefined);
    const own = known?.since === usage.since ? known.used : 0;
    return { ...plan, since: usage.since, used: Math.max(usage.events, own) };
  };
  const lookUp = (userId: string) => {
    const known = entries.get(userId);
    if (known && known.untilMs > clock.now()) return known.loading;
    const entry = { loading: load(userId, known?.loading), untilMs: clock.now() + limits.planMs };
    entries.delete(userId);
    entries.set(userId, entry);
    if (entries.size > limits.configEntries) entries.delete(entries.keys().next().value!);
    entry.loading.catch(() => entries.delete(userId));
    return entry.loading;
  };

  return {
    admitSource: sourceId =>
      requireRoom(rates.take(sourceId, perSource, clock.now()), 'Too many requests to the source.'),
    async admit(userId) {
      const account = await lookUp(userId);
      const policy = { name: 'plan', limit: account.eventsPerMinute, windowMs: limits.rateWindowMs };
      requireRoom(rates.take(userId, policy, clock.now()), 'Too many events for the plan.');
      if (account.used >= account.eventsPerMonth)
        throw webhookErrors.create(
          'webhooks.quota_exceeded',
          "The plan's events of this month are used up.",
          {
            eventsPerMonth: account.eventsPerMonth,
          },
        );
      account.used += 1;
      return account;
    },
  };
}

function requireRoom({ isAllowed, retryMs }: Verdict, refusal: string): void {
  if (isAllowed) return;
  throw webhookErrors.create<ProblemDetails>('webhooks.rate_limited', refusal, {
    retryAfterS: Math.max(1, Math.ceil(retryMs / 1000)),
  });
}
