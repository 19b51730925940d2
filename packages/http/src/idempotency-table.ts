import { type Clock, createIds, type Owners, type Sealer, unknownOwners } from '@stak/kit';
import { and, type ItemOf, is, or, type Store, tableErrors } from '@stak/table';
import { keyedRequest } from './http-table.ts';
import type { Attempt, Begun, Claim, IdempotencyStore } from './idempotency.ts';
import * as limits from './limits.ts';

type KeyedRequest = ItemOf<typeof keyedRequest>;
// A response may contain a secret that is shown once, so it is stored encrypted.
export type AnswerSealer = Pick<Sealer, 'seal' | 'open'>;

const sealLocation = (key: string): string => `stak-http keyed request ${key}`;

// Keys shared by any number of processes. `begin` is one conditional write: if it is refused, the refusal contains the
// existing record, so a replay costs no read. `finish` is one more write.
export function createTableIdempotency(deps: {
  store: Store;
  clock: Clock;
  sealer: AnswerSealer;
  owners?: Owners; // detects which processes are gone; without it, an attempt blocks its key until its lease ends
}): IdempotencyStore {
  const { store, clock, sealer, owners = unknownOwners(createIds({ clock })) } = deps;

  // Takes the key if it is free, or from the attempt of a dead process.
  async function begin(claim: Claim, deadAttempt?: string): Promise<Begun> {
    const { key, fingerprint } = claim;
    const attempt = owners.next();
    const nowMs = clock.now();
    const until = nowMs + claim.leaseMs;
    const isFree =
      deadAttempt === undefined
        ? or({ attempt: is.absent }, { until: is.atMost(nowMs) })
        : and({ attempt: deadAttempt }, { status: is.absent });
    try {
      await store.put(
        keyedRequest,
        { key, fingerprint, attempt, until, expires_at: expiryOf(until) },
        { if: isFree, pattern: 'begin keyed request' },
      );
    } catch (error) {
      const holder = inTheWay(error);
      const begun = describeHolder(holder, fingerprint, sealer);
      if (begun.kind !== 'in_flight' || holder === undefined || holder.attempt === deadAttempt) return begun;
      return (await owners.isGone(holder.attempt)) ? begin(claim, holder.attempt) : begun;
    }
    return { kind: 'started', attempt: attemptOf(deps, claim, attempt) };
  }
  return { begin: claim => begin(claim) };
}

type Deps = { store: Store; clock: Clock; sealer: AnswerSealer };

function attemptOf({ store, clock, sealer }: Deps, { key, ttlMs }: Claim, attempt: string): Attempt {
  return {
    async finish({ status, headers, body }) {
      const until = clock.now() + ttlMs;
      const sealed = Buffer.from(sealer.seal(body, sealLocation(key)));
      const set = { status, headers: headers.map(toPair), body: sealed, until, expires_at: expiryOf(until) };
      const options = { if: { attempt }, pattern: 'finish keyed request' };
      await store.update(keyedRequest, { key }, { set }, options).catch(inTheWay);
    },
    async abandon() {
      const options = { if: { attempt }, pattern: 'abandon keyed request' };
      await store.delete(keyedRequest, { key }, options).catch(inTheWay);
    },
  };
}

const toPair = ([name, value]: readonly [string, string]): [string, string] => [name, value];

// The record of another attempt that holds the key. Any other error is thrown.
function inTheWay(error: unknown): KeyedRequest | undefined {
  if (!tableErrors.includes(error) || error.code !== 'table.condition_failed') throw error;
  return (error.details as { current?: KeyedRequest }).current;
}

function describeHolder(holder: KeyedRequest | undefined, fingerprint: string, sealer: AnswerSealer): Begun {
  if (holder === undefined) return { kind: 'in_flight' }; // it was just released
  if (holder.fingerprint !== fingerprint) return { kind: 'mismatch' };
  const { key, status, headers = [], body } = holder;
  if (status === undefined || body === undefined) return { kind: 'in_flight' };
  const opened = sealer.open(Buffer.from(body).toString(), sealLocation(key));
  return { kind: 'replay', response: { status, headers, body: new Uint8Array(opened) } };
}

// Rounded up and extended: `until` decides, and an attempt that is a little late may still finish.
const expiryOf = (untilMs: number): number => Math.ceil((untilMs + limits.idempotencyGraceMs) / 1000);
