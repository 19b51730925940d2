import { setImmediate } from 'node:timers/promises';
import { createLogger, manualClock } from '@stak/kit';
import type { Answer, AttemptRun, Report } from '../src/delivery/attempt.ts';
import { createDispatcher } from '../src/delivery/dispatcher.ts';
import type { DeliveryRef } from '../src/delivery/queue.ts';
import type { HookRequest } from '../src/filters/request-view.ts';
import * as limits from '../src/limits.ts';
import type { Connection } from '../src/main-table.ts';
import type { Delivery } from '../src/tables.ts';

type Attempt = {
  ref: DeliveryRef;
  how: 'at once' | 'leased' | 'claimed';
  onClaimed(): void;
  answer(given: Partial<Answer>): void;
  end(report?: Report & Partial<Answer>): void;
};
export const request: HookRequest = { method: 'POST', headers: [], query: '', body: new Uint8Array() };
export const large = { ...request, body: new Uint8Array(limits.bodyBytes) };

export function openDispatcher({ claimsAtOnce = Number.POSITIVE_INFINITY } = {}) {
  const clock = manualClock(0);
  const begun: Attempt[] = [];
  const released: string[] = [];
  const watch = { lookedMs: 0 };
  let fewerOwed = 0;
  const begin = (
    ref: DeliveryRef,
    how: Attempt['how'],
    { onAnswer }: AttemptRun,
    onClaimed = () => {},
  ): Promise<Report> =>
    new Promise(resolve => {
      const userId = `owner of ${ref.connectionId}`;
      const answer = (given: Partial<Answer>) =>
        onAnswer({ latencyMs: 1, ownMs: 0, userId, concurrency: 4, isWell: true, ...given });
      const end = ({ waitMs, next, ...given }: Report & Partial<Answer> = {}) => {
        if (given.latencyMs !== undefined) answer(given);
        resolve({ waitMs, next });
      };
      begun.push({ ref, how, onClaimed, answer, end });
    });
  const dispatcher = createDispatcher({
    clock,
    log: createLogger({ level: 'silent' }),
    attempt: async (ref, _connection, _request, run) => begin(ref, 'at once', run),
    attemptLeased: (ref, _request, run) => begin(ref, 'leased', run),
    release: async ({ eventId }) => released.push(eventId),
    claimAndAttempt: (ref, _owner, run, onClaimed) => begin(ref, 'claimed', run, onClaimed),
    claimsAtOnce,
    answerWatch: { now: clock.now, mark: () => {}, lookedMs: () => watch.lookedMs },
    onFewerOwed: () => {
      fewerOwed += 1;
    },
  });
  const cutOff = new AbortController();
  dispatcher.start({ owner: 'me', signal: cutOff.signal, onRoom: () => {} });
  let count = 0;
  const offer = (connectionId: string) =>
    dispatcher.offer({ eventId: `evt_${count++}`, connectionId, run: 0 });
  const of = (connectionId: string) => begun.filter(one => one.ref.connectionId === connectionId);
  const end = async (one: Attempt, latencyMs: number, concurrency = 4) => {
    one.end({ latencyMs, concurrency });
    await setImmediate();
  };
  // The lease of a new delivery; undefined if it is written as due.
  const reserve = (connectionId: string, maxConcurrency: number, received = request) => {
    const userId = `owner of ${connectionId}`;
    const connection = { connectionId, userId, maxConcurrency, breaker: 'closed', ordered: false };
    const assignment = dispatcher.assign(connection as Connection, received);
    if (assignment.how !== 'leased') return undefined;
    const start = () => {
      const eventId = `evt_${count++}`;
      assignment.start({ eventId, connectionId, run: 0 } as Delivery, received);
      return eventId;
    };
    return { start, cancel: assignment.cancel };
  };
  // A connection that has answered quickly before.
  const know = async (connectionId: string, latencyMs = 1, concurrency = 1, userId?: string) => {
    offer(connectionId);
    of(connectionId)[0]!.end({ latencyMs, concurrency, ...(userId !== undefined && { userId }) });
    await setImmediate();
  };
  return {
    clock,
    cutOff,
    watch,
    fewerOwed: () => fewerOwed,
    begun,
    released,
    dispatcher,
    offer,
    of,
    end,
    reserve,
    know,
  };
}
