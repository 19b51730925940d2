import { type Clock, yieldIfBusy } from '@stak/kit';
import type { Store } from '@stak/table';
import { refuseRules } from '../connections/test-run.ts';
import { readRequest } from '../delivery/payload.ts';
import { type EventCursor, walkEvents } from '../events/list.ts';
import type { HookRequest } from '../filters/request-view.ts';
import * as limits from '../limits.ts';
import type { Event } from '../tables.ts';
import type { RuleSet, Rules } from '../transforms/rules.ts';
import type { TransformFailure, TransformOutcome } from '../transforms/transform.ts';
import type { OutcomeView } from './schema.ts';

// Runs stored events through two sets of rules, and says which of them would be sent otherwise. Sends nothing.

export type WhatIfDeps = { store: Store; clock: Clock; rules: Rules };

/** Where the next page begins; the end of the range stays where it was for the first page. */
export type WhatIfCursor = EventCursor & { toMs: number };

type Outcome = TransformOutcome | { ok: true; filtered: true };
type Result = OutcomeView['result'];
type Difference = {
  event: Pick<Event, 'eventId' | 'receivedAt' | 'eventType'>;
  before: OutcomeView;
  after: OutcomeView;
};
type WhatIfPage = {
  events: number;
  before: Record<Result, number>;
  after: Record<Result, number>;
  differences: Difference[];
  next?: WhatIfCursor;
};

type Range = { sourceId: string; fromMs?: number; toMs: number; after?: EventCursor; limit: number };

const noCounts = (): Record<Result, number> => ({ sent: 0, filtered: 0, dropped: 0, failed: 0 });

export async function whatIf(
  { store, clock, rules }: WhatIfDeps,
  { before, after }: { before: RuleSet; after: RuleSet },
  { sourceId, limit, ...range }: Range,
): Promise<WhatIfPage> {
  const page: WhatIfPage = { events: 0, before: noCounts(), after: noCounts(), differences: [] };
  const untilMs = clock.now() + limits.whatIfMs;
  let read = 0;
  let shownBytes = 0;
  let last: WhatIfCursor | undefined;
  const isFull = () =>
    page.events === limit ||
    read === limits.searchEvents ||
    shownBytes >= limits.whatIfBytes ||
    clock.now() >= untilMs;
  for await (const event of walkEvents(store, sourceId, { ...range, oldestFirst: true, pageItems: limit })) {
    if (last && isFull()) return { ...page, next: last };
    const { eventId, receivedAt, eventType } = event;
    const request = event.status === 'rejected' ? undefined : await readRequest(store, eventId);
    if (request) {
      await yieldIfBusy();
      const outcomes = await Promise.all([
        outcomeOf(rules, before, request),
        outcomeOf(rules, after, request),
      ]);
      const busy = outcomes.find(isBusy);
      if (busy && !last) throw refuseRules(busy);
      if (busy) return { ...page, next: last };
      const [was, is] = outcomes;
      page.events += 1;
      page.before[resultOf(was)] += 1;
      page.after[resultOf(is)] += 1;
      if (!isSame(was, is)) {
        const difference = { before: show(was), after: show(is) };
        page.differences.push({ event: { eventId, receivedAt, eventType }, ...difference });
        shownBytes += bytesShown(difference.before) + bytesShown(difference.after);
      }
    }
    read += 1;
    last = { receivedAt, eventId, toMs: range.toMs };
  }
  return page;
}

async function outcomeOf(rules: Rules, ruleSet: RuleSet, request: HookRequest): Promise<Outcome> {
  const outcome = await rules.run(ruleSet, request, { filter: true });
  if (!outcome.ok) return outcome;
  return outcome.transformed ?? { ok: true, filtered: true };
}

const isBusy = (outcome: Outcome): outcome is TransformFailure => !outcome.ok && outcome.reason === 'busy';

function resultOf(outcome: Outcome): Result {
  if (!outcome.ok) return 'failed';
  if ('filtered' in outcome) return 'filtered';
  return outcome.dropped ? 'dropped' : 'sent';
}

function isSame(a: Outcome, b: Outcome): boolean {
  if (!a.ok || !b.ok) return !a.ok && !b.ok && a.reason === b.reason;
  if ('filtered' in a || 'filtered' in b) return 'filtered' in a && 'filtered' in b;
  if (a.dropped || b.dropped) return a.dropped === b.dropped;
  return (
    a.contentType === b.contentType &&
    JSON.stringify(a.headers) === JSON.stringify(b.headers) &&
    Buffer.compare(a.body, b.body) === 0
  );
}

function show(outcome: Outcome): OutcomeView {
  const result = resultOf(outcome);
  if (!outcome.ok) return { result, reason: outcome.reason, message: outcome.message };
  if ('filtered' in outcome || outcome.dropped) return { result };
  const { body, contentType, headers } = outcome;
  return {
    result,
    bytes: body.length,
    body: body.length > limits.whatIfBodyBytes ? undefined : Buffer.from(body).toString('base64'),
    contentType,
    headers: headers?.map(([name, value]) => [name, value]),
  };
}

const bytesShown = ({ body = '' }: OutcomeView): number => body.length;
