import { type Clock, createIds, type Owners, type Sealer, unknownOwners } from '@stak/kit';
import {
  and,
  type ItemOf,
  is,
  isUnavailable,
  or,
  retryWhileLeased,
  type Store,
  tableErrors,
} from '@stak/table';
import * as limits from '../limits.ts';
import { keyedRequest } from './http-table.ts';
import type { Attempt, Begun, Claim, FirstAttempt, IdempotencyStore } from './idempotency.ts';

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
  const tryLater = createLateWrites(clock);

  // Takes the key if nobody has it, or from an attempt that was given up or whose process is dead.
  async function begin(claim: Claim, given?: KeyedRequest): Promise<Begun> {
    const { key, fingerprint, ttlMs, leaseMs } = claim;
    const attempt = owners.next();
    const nowMs = clock.now();
    const until = nowMs + leaseMs;
    const repeated = given && firstOf(given, claim, nowMs);
    const first = repeated ?? { name: attempt, atMs: nowMs };
    const isFree = given
      ? and({ attempt: given.attempt }, { status: is.absent })
      : or({ attempt: is.absent }, and({ status: is.present }, { until: is.atMost(nowMs) }));
    const record = { key, fingerprint, attempt, first_attempt: first.name, first_at: first.atMs, until };
    const own = attemptOf({ ...deps, tryLater }, claim, attempt, until);
    try {
      const item = { ...record, expires_at: expiryOf(nowMs + ttlMs) };
      await store.put(keyedRequest, item, { if: isFree, pattern: 'begin keyed request' });
    } catch (error) {
      if (isUnavailable(error)) own.abandon().catch(() => {}); // it may have been written
      const record = inTheWay(error);
      if (record && record.attempt !== given?.attempt && (await isGivenUp(record, fingerprint)))
        return begin(claim, record);
      return describeHolder(record, fingerprint, sealer);
    }
    return { kind: 'started', attempt: own, first, isRepeated: repeated !== undefined };
  }

  async function isGivenUp(record: KeyedRequest, fingerprint: string): Promise<boolean> {
    if (record.status !== undefined) return false;
    if (record.until <= clock.now()) return true;
    return record.fingerprint === fingerprint && owners.isGone(record.attempt);
  }
  return { begin: claim => begin(claim) };
}

// Undefined for another request, which creates other things, and for one that was made so long ago that its key is free.
function firstOf(
  given: KeyedRequest,
  { fingerprint, ttlMs }: Claim,
  nowMs: number,
): FirstAttempt | undefined {
  const { first_attempt: name = given.attempt, first_at: atMs = nowMs } = given;
  return given.fingerprint === fingerprint && atMs + ttlMs > nowMs ? { name, atMs } : undefined;
}

// Writes that the store could not take. Their callers have been answered, so nothing else limits their number.
function createLateWrites(clock: Clock) {
  let count = 0;
  return async (write: () => Promise<unknown>, untilMs: number): Promise<void> => {
    if (count === limits.lateWrites) return; // the lease ends by itself
    count += 1;
    await retryWhileLeased(write, { clock, untilMs: () => untilMs }).catch(() => {});
    count -= 1;
  };
}

type Deps = {
  store: Store;
  clock: Clock;
  sealer: AnswerSealer;
  tryLater: ReturnType<typeof createLateWrites>;
};

function attemptOf(
  { store, clock, sealer, tryLater }: Deps,
  { key, ttlMs }: Claim,
  attempt: string,
  leasedUntilMs: number,
): Attempt {
  // If the store is unavailable, this throws, and the write is repeated in the background: a retry of the caller need
  // not wait until the lease ends.
  const settle = async (write: () => Promise<unknown>): Promise<void> => {
    const settling = () => write().catch(inTheWay);
    try {
      await settling();
    } catch (error) {
      if (isUnavailable(error)) void tryLater(settling, leasedUntilMs);
      throw error;
    }
  };
  return {
    async finish({ status, headers, body }) {
      const until = clock.now() + ttlMs;
      const sealed = Buffer.from(sealer.seal(body, sealLocation(key)));
      const set = { status, headers: headers.map(toPair), body: sealed, until, expires_at: expiryOf(until) };
      const options = { if: { attempt }, pattern: 'finish keyed request' };
      await settle(() => store.update(keyedRequest, { key }, { set }, options));
    },
    // The record stays: the next attempt has to know that this one may have made the change.
    async abandon() {
      const options = { if: { attempt }, pattern: 'abandon keyed request' };
      await settle(() => store.update(keyedRequest, { key }, { set: { until: 0 } }, options));
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
