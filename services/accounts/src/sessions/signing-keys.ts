import { SealError, type Sealer, type Worker } from '@stak/kit';
import { failedStep, write } from '@stak/table';
import {
  type CryptoKey,
  calculateJwkThumbprint,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JWK,
} from 'jose';
import { type Base, inSeconds, isoTime } from '../deps.ts';
import * as limits from '../limits.ts';
import { type StoredSigningKey, signingKey, signingKeys } from '../table.ts';

export type SigningKeys = {
  current(): Promise<{ kid: string; key: CryptoKey }>;
  find(kid: string): Promise<CryptoKey | undefined>;
  // Whether a key that was found before is still published. Answers from memory.
  isPublished(kid: string): boolean;
  jwks(): Promise<{ keys: JWK[] }>;
  // Resolves when there are keys to sign with; rejects with a SealError if they cannot be opened.
  prepare(): Promise<void>;
  // The next key signs from now on. With `revoke`, what the last one signed is refused.
  rotate(options?: { revoke?: boolean }): Promise<void>;
  worker: Worker;
};

type Loaded = { stored: StoredSigningKey[]; kids: Set<string>; loadedMs: number };

const sealLocation = (sequence: number) => `ferryhook-main/SIGNING/${sequence}/privateJwk`;
// After its last signature a key is published until the longest token is over, and then a little.
const retiresAt = (signsUntilMs: number) =>
  inSeconds(signsUntilMs) + limits.endUserTokenMostS + limits.signingMarginS;

// There are always two: the one that signs and its successor, which is published long before it signs, so that
// nobody who keeps our keys meets a token of one they have not seen. Their numbers follow each other and each is
// put only if absent: processes that make one at the same time end with the same one.
export function createSigningKeys(base: Base & { sealer: Sealer }): SigningKeys {
  const { store, clock, log, sealer } = base;
  const imported = new Map<string, Promise<CryptoKey>>();
  let loaded: Loaded | undefined;
  let loading: Promise<Loaded> | undefined;

  const readStored = async (): Promise<StoredSigningKey[]> => {
    const stored: StoredSigningKey[] = [];
    for await (const one of store.all(signingKeys, {})) stored.push(one);
    return stored;
  };

  const load = async (): Promise<Loaded> => {
    let stored = await readStored();
    // Twice at most: the first key, then its successor.
    while (await addMissing(stored)) stored = await readStored();
    await resealStale(stored);
    const kids = new Set(stored.map(one => one.kid));
    for (const key of imported.keys()) if (!kids.has(key.slice(key.indexOf(' ') + 1))) imported.delete(key);
    loaded = { stored, kids, loadedMs: clock.now() };
    return loaded;
  };

  // A key lives for months. Sealed again, it does not hold up an operator who drops what it was sealed with.
  const resealStale = async (stored: readonly StoredSigningKey[]): Promise<void> => {
    for (const { sequence, privateJwk } of stored) {
      const resealed = resealedOf(privateJwk, sealLocation(sequence));
      if (resealed === undefined) continue;
      const change = { set: { privateJwk: resealed } };
      await writeUnlessLost({
        'seal it again': write.update(signingKey, { sequence }, change, { if: { privateJwk } }),
      });
    }
  };

  // A key that cannot be opened may still be needed to verify: only signing with it fails.
  const resealedOf = (sealed: string, location: string): string | undefined => {
    try {
      return sealer.isStale(sealed) ? sealer.seal(sealer.open(sealed, location), location) : undefined;
    } catch (error) {
      if (error instanceof SealError) return undefined;
      throw error;
    }
  };

  // Callers that come while it is loading wait for the same answer.
  const reload = (): Promise<Loaded> => {
    loading ??= load().finally(() => {
      loading = undefined;
    });
    return loading;
  };

  const ready = async (olderMs: number = limits.signingReloadMs): Promise<Loaded> =>
    loaded && clock.now() - loaded.loadedMs < olderMs ? loaded : reload();

  const addMissing = async (stored: readonly StoredSigningKey[]): Promise<boolean> => {
    const last = stored.at(-1);
    const nowMs = clock.now();
    if (last && last.signsFrom > nowMs) return false;
    const signsFrom = last
      ? Math.max(last.signsFrom + limits.signingKeyS * 1000, nowMs + limits.signingMarginS * 1000)
      : nowMs;
    const made = await makeKey((last?.sequence ?? 0) + 1, signsFrom);
    await writeUnlessLost({
      'the key': write.put(signingKey, made, { ifAbsent: true }),
      ...(last && { 'the last one': retire(last, signsFrom) }),
    });
    return true;
  };

  const retire = ({ sequence }: StoredSigningKey, signsUntilMs: number) =>
    write.update(signingKey, { sequence }, { set: { expiresAt: retiresAt(signsUntilMs) } });

  const makeKey = async (sequence: number, signsFrom: number) => {
    const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
    const publicJwk = await exportJWK(publicKey);
    const privateJwk = JSON.stringify(await exportJWK(privateKey));
    return {
      sequence,
      kid: await calculateJwkThumbprint(publicJwk),
      publicJwk: JSON.stringify(publicJwk),
      privateJwk: sealer.seal(privateJwk, sealLocation(sequence)),
      signsFrom,
      createdAt: isoTime(clock.now()),
    };
  };

  // Somebody else did the same a moment earlier: theirs counts.
  const writeUnlessLost = async (steps: Parameters<typeof store.transact>[0]): Promise<void> => {
    try {
      await store.transact(steps, { pattern: 'rotate signing keys' });
    } catch (error) {
      if (failedStep(error)?.reason !== 'condition_failed') throw error;
    }
  };

  const importOnce = (use: 'sign' | 'verify', { kid }: StoredSigningKey, jwk: () => string) => {
    const known = imported.get(`${use} ${kid}`);
    if (known) return known;
    const made = Promise.resolve(importJWK(JSON.parse(jwk()), 'ES256') as Promise<CryptoKey>);
    imported.set(`${use} ${kid}`, made);
    made.catch(() => imported.delete(`${use} ${kid}`));
    return made;
  };

  const signerOf = ({ stored }: Loaded): StoredSigningKey => {
    const nowMs = clock.now();
    // If our clock is behind that of the process that made the first key, that key signs anyway.
    return stored.findLast(one => one.signsFrom <= nowMs) ?? stored[0]!;
  };

  const current = async (): Promise<{ kid: string; key: CryptoKey }> => {
    const signer = signerOf(await ready());
    const key = await importOnce('sign', signer, () =>
      sealer.openText(signer.privateJwk, sealLocation(signer.sequence)),
    );
    return { kid: signer.kid, key };
  };

  const rotate = async ({ revoke = false } = {}): Promise<void> => {
    const known = await reload();
    const last = signerOf(known);
    const next = known.stored.find(one => one.sequence === last.sequence + 1);
    if (next) {
      const nowMs = clock.now();
      const { sequence, signsFrom } = next;
      await writeUnlessLost({
        'the next key': write.update(
          signingKey,
          { sequence },
          { set: { signsFrom: nowMs } },
          { if: { signsFrom } },
        ),
        'the last one': revoke ? write.delete(signingKey, { sequence: last.sequence }) : retire(last, nowMs),
      });
      log.info({ kid: next.kid, was: last.kid, revoke }, 'signing keys were rotated');
    }
    // A load that is under way may have read before the write: it would bring a revoked key back.
    await loading?.catch(() => {});
    await reload();
  };

  return {
    current,
    async prepare() {
      await current();
    },
    async find(kid) {
      let known = await ready();
      if (!known.kids.has(kid)) known = await ready(limits.unknownKeyReloadMs);
      const found = known.stored.find(one => one.kid === kid);
      return found && importOnce('verify', found, () => found.publicJwk);
    },
    isPublished: kid =>
      loaded !== undefined && clock.now() - loaded.loadedMs < limits.signingReloadMs && loaded.kids.has(kid),
    async jwks() {
      const { stored } = await ready();
      const keys = stored.map(({ kid, publicJwk }) => ({
        ...JSON.parse(publicJwk),
        kid,
        alg: 'ES256',
        use: 'sig',
      }));
      return { keys };
    },
    rotate,
    // Nothing has to happen for a key to take over, but its own successor has to be published in time.
    worker: {
      name: 'accounts-signing-keys',
      async run(signal) {
        while (!signal.aborted) {
          await reload();
          await clock.sleep(limits.signingReloadMs / 2, signal);
        }
      },
    },
  };
}
