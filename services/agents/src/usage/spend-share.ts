import type { Service } from '../deps.ts';
import * as limits from '../limits.ts';
import { accountDay } from '../main-table.ts';
import { dateOf } from './quota.ts';

type Reporting = Pick<Service, 'store' | 'clock' | 'log' | 'onShareUsed' | 'reportedShares'>;
type SpendLimit = { account_id: string; date: string; limitUsd: number };

const keyOf = ({ account_id, date, limitUsd }: SpendLimit): string => `${account_id} ${date} ${limitUsd}`;
const microsOf = ({ limitUsd }: SpendLimit): number => limitUsd * limits.microsPerUsd;

// Notifies an account that has spent most of what it may spend on models today. Every process does so that sees it, in
// case the one that saw it first has crashed. Nobody waits for it.
export async function reportSpend(service: Reporting, limit: SpendLimit, usedMicros: number): Promise<void> {
  const percent = limits.notifiedShares.findLast(share => usedMicros * 100 >= share * microsOf(limit)) ?? 0;
  await report(service, limit, percent);
}

// After a refusal the limit is reached if the request does not fit beside what is spent. What others have reserved is
// mostly given back, and a request that may cost more than the whole limit says nothing about the day.
export async function reportRefusal(
  service: Reporting,
  limit: SpendLimit,
  requestMicros: number,
): Promise<void> {
  const { store, onShareUsed, reportedShares, log } = service;
  const { account_id, date } = limit;
  const isKnown = reportedShares.get(keyOf(limit)) === 100;
  if (!onShareUsed || isKnown || requestMicros > microsOf(limit)) return;
  try {
    const found = await store.get(accountDay, { account_id, date }, { consistent: true });
    if ((found?.used_micros ?? 0) + requestMicros > microsOf(limit)) await report(service, limit, 100);
  } catch (error) {
    log.warn({ err: error, account_id }, 'what an account spends on models could not be read');
  }
}

async function report(service: Reporting, limit: SpendLimit, percent: number): Promise<void> {
  const { clock, log, onShareUsed, reportedShares } = service;
  const key = keyOf(limit);
  const isOver = limit.date !== dateOf(clock.now()); // the next day has begun
  if (!onShareUsed || isOver || percent <= (reportedShares.get(key) ?? 0)) return;
  reportedShares.set(key, percent);
  try {
    await onShareUsed({ ...limit, percent });
  } catch (error) {
    reportedShares.delete(key);
    const { account_id } = limit;
    log.warn({ err: error, account_id }, 'an account could not be notified of what it spends on models');
  }
}
