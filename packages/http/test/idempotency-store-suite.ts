import { type ManualClock, manualClock } from '@stak/kit';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Attempt, Claim, IdempotencyStore, StoredResponse } from '../src/index.ts';

const claim = (change: Partial<Claim> = {}): Claim => ({
  key: 'key',
  fingerprint: 'print',
  ttlMs: 10_000,
  leaseMs: 1000,
  ...change,
});

const response = (text: string): StoredResponse => ({
  status: 201,
  headers: [
    ['content-type', 'application/json'],
    ['location', '/v1/things/1'],
  ],
  body: new Uint8Array([0, 255, ...Buffer.from(text)]),
});

async function begin(store: IdempotencyStore, change: Partial<Claim> = {}): Promise<Attempt> {
  const begun = await store.begin(claim(change));
  if (begun.kind !== 'started') throw new Error(`It was ${begun.kind}`);
  return begun.attempt;
}

// A store of idempotency keys promises this. Run it over every one there is: `testIdempotencyStore(make)`.
export function testIdempotencyStore(make: (clock: ManualClock) => Promise<IdempotencyStore>): void {
  describe('an idempotency store', () => {
    it('starts once and returns every byte', async () => {
      const store = await make(manualClock());
      await (await begin(store)).finish(response('done'));
      expect(await store.begin(claim())).toEqual({ kind: 'replay', response: response('done') });
      expect(await store.begin(claim({ key: 'other' }))).toMatchObject({ kind: 'started' });
    });

    it('recognises another request under the same key, before and after it is done', async () => {
      const store = await make(manualClock());
      const attempt = await begin(store);
      expect(await store.begin(claim({ fingerprint: 'other' }))).toEqual({ kind: 'mismatch' });
      await attempt.finish(response('done'));
      expect(await store.begin(claim({ fingerprint: 'other' }))).toEqual({ kind: 'mismatch' });
    });

    it('lets an abandoned key start again', async () => {
      const store = await make(manualClock());
      const attempt = await begin(store);
      expect(await store.begin(claim())).toEqual({ kind: 'in_flight' });
      await attempt.abandon();
      await (await begin(store, { fingerprint: 'other' })).finish(response('second'));
    });

    it('tells an attempt that an earlier one may have made the change', async () => {
      const clock = manualClock();
      const store = await make(clock);
      const start = async (change: Partial<Claim> = {}) => {
        const begun = await store.begin(claim(change));
        if (begun.kind !== 'started') throw new Error(`It was ${begun.kind}`);
        return begun;
      };
      const { attempt, first, isRepeated } = await start();
      expect([isRepeated, first.atMs]).toEqual([false, clock.now()]);
      await clock.advance(5);
      await attempt.abandon();
      const second = await start();
      expect(second).toMatchObject({ isRepeated: true, first });
      await clock.advance(1001); // it has died
      const third = await start();
      expect(third).toMatchObject({ isRepeated: true, first });
      await third.attempt.abandon();
      const other = await start({ fingerprint: 'other' });
      expect(other.isRepeated).toBe(false);
      expect(other.first).not.toEqual(first);
      await other.attempt.abandon();
      await clock.advance(6000);
      await (await start({ fingerprint: 'other' })).attempt.abandon();
      await clock.advance(6000); // since the first of them, the key is free again
      const late = await start({ fingerprint: 'other' });
      expect(late.isRepeated).toBe(false);
      await late.attempt.finish(response('done'));
      await clock.advance(10_001);
      expect((await start({ fingerprint: 'other' })).isRepeated).toBe(false);
    });

    it('forgets a response when it expires', async () => {
      const clock = manualClock();
      const store = await make(clock);
      await (await begin(store)).finish(response('done'));
      await clock.advance(9999);
      expect(await store.begin(claim())).toMatchObject({ kind: 'replay' });
      await clock.advance(2);
      expect(await store.begin(claim({ fingerprint: 'other' }))).toMatchObject({ kind: 'started' });
    });

    it('gives the key of a dead process to the next one, and ignores the dead', async () => {
      const clock = manualClock();
      const store = await make(clock);
      const dead = await begin(store);
      await clock.advance(1001);
      const second = await begin(store);
      await dead.finish(response('late'));
      expect(await store.begin(claim())).toEqual({ kind: 'in_flight' });
      await dead.abandon();
      expect(await store.begin(claim())).toEqual({ kind: 'in_flight' });
      await second.finish(response('second'));
      expect(await store.begin(claim())).toEqual({ kind: 'replay', response: response('second') });
    });

    it('starts one of many concurrent requests', async () => {
      const store = await make(manualClock());
      const begun = await Promise.all(Array.from({ length: 20 }, () => store.begin(claim())));
      expect(begun.filter(one => one.kind === 'started')).toHaveLength(1);
      expect(begun.filter(one => one.kind === 'in_flight')).toHaveLength(19);
    });

    it('never runs two attempts at a time, in any order of events', async () => {
      const step = fc.oneof(
        fc.record({ do: fc.constant('begin' as const), print: fc.constantFrom('a', 'b') }),
        fc.record({ do: fc.constantFrom('finish' as const, 'abandon' as const), nth: fc.nat(5) }),
        fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(400, 1001, 10_001) }),
      );
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 30 }), async steps => {
          const clock = manualClock();
          const store = await make(clock);
          const attempts: { attempt: Attempt; untilMs: number; print: string; text: string }[] = [];
          let held: (typeof attempts)[number] | undefined;
          let kept: { text: string; print: string; untilMs: number } | undefined;
          for (const one of steps) {
            const nowMs = clock.now();
            if (kept && kept.untilMs <= nowMs) kept = undefined;
            const isHeld = held !== undefined && held.untilMs > nowMs;
            if (one.do === 'wait') await clock.advance(one.ms);
            else if (one.do === 'begin') {
              const begun = await store.begin(claim({ fingerprint: one.print }));
              const print = kept?.print ?? (isHeld ? held?.print : undefined);
              if (print === undefined) {
                if (begun.kind !== 'started') throw new Error(`expected a start, got ${begun.kind}`);
                held = {
                  attempt: begun.attempt,
                  untilMs: nowMs + 1000,
                  print: one.print,
                  text: `${attempts.length}`,
                };
                attempts.push(held);
              } else if (print !== one.print) expect(begun).toEqual({ kind: 'mismatch' });
              else if (kept) expect(begun).toEqual({ kind: 'replay', response: response(kept.text) });
              else expect(begun).toEqual({ kind: 'in_flight' });
            } else {
              const actor = attempts[one.nth];
              // An attempt acts once, while its lease lasts or when somebody else has the key; what a late one
              // finds unclaimed is the store's own choice.
              if (!actor || (actor === held && !isHeld)) continue;
              await (one.do === 'finish'
                ? actor.attempt.finish(response(actor.text))
                : actor.attempt.abandon());
              if (actor !== held) continue;
              if (one.do === 'finish')
                kept = { text: actor.text, print: actor.print, untilMs: nowMs + 10_000 };
              held = undefined;
              attempts[one.nth] = { ...actor, attempt: { finish: async () => {}, abandon: async () => {} } };
            }
          }
        }),
        { numRuns: 200 },
      );
    });
  });
}
