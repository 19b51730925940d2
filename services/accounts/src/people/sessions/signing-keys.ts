import { SealError, type Sealer, type Worker } from '@stak/kit';
import { failedStep, type WriteStep, write } from '@stak/table';
import {
  type CryptoKey,
  calculateJwkThumbprint,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JWK,
} from 'jose';
import { type Base, inSeconds, isoTime } from '../../deps.ts';
import * as limits from '../../limits.ts';
import { type StoredSigningKey, signingKey, signingKeys } from '../../main-table.ts';

export type SigningKeys = {
  current(): Promise<{ kid: string; key: CryptoKey }>;
  find(kid: string): Promise<CryptoKey | undefined>;
  // Whether a known key is still published. Reads memory only.
  isPublished(kid: string): boolean;
  jwks(): Promise<{ keys: JWK[] }>;
  // Resolves when there are keys to sign with. Rejects with a SealError if they cannot be opened.
  prepare(): Promise<void>;
  // Makes the next key sign from now on. `revoke` also rejects what the current one signed.
  rotate(options?: { revoke?: boolean }): Promise<void>;
  worker: Worker;
};

type Loaded = { stored: StoredSigningKey[]; kids: Set<string>; loadedMs: number };

const sealLocation = (sequence: number) => `ferryhook-main/SIGNING/${sequence}/privateJwk`;
// After its last signature a key stays published until the longest-lived token has expired, plus a margin.
const retiresAt = (signsUntilMs: number) =>
  inSeconds(signsUntilMs) + limits.endUserTokenMostS + limits.signingMarginS;

type KeysDeps = Base & { sealer: Sealer };

// There are always two keys: the one that signs, and its successor. The successor is published long before it signs, so
// that clients that cache our keys never meet an unknown one. Keys are numbered and each is put only if absent, so
// processes that create one concurrently end up with the same one.
export function createSigningKeys(base: KeysDeps): SigningKeys {
  const { clock } = base;
  const importOnce = createImports();
  let loaded: Loaded | undefined;
  let loading: Promise<Loaded> | undefined;

  const load = async (): Promise<Loaded> => {
    const stored = await readComplete(base);
    const kids = new Set(stored.map(key => key.kid));
    importOnce.keepOnly(kids);
    loaded = { stored, kids, loadedMs: clock.now() };
    return loaded;
  };
  // Concurrent callers share one load.
  const reload = (): Promise<Loaded> => {
    loading ??= load().finally(() => {
      loading = undefined;
    });
    return loading;
  };
  const ready = async (olderMs: number = limits.signingReloadMs): Promise<Loaded> =>
    loaded && clock.now() - loaded.loadedMs < olderMs ? loaded : reload();

  const current = async (): Promise<{ kid: string; key: CryptoKey }> => {
    const signer = signerOf((await ready()).stored, clock.now());
    const key = await importOnce.get('sign', signer.kid, () => openKey(base, signer));
    return { kid: signer.kid, key };
  };

  return {
    current,
    async prepare() {
      await current();
    },
    async find(kid) {
      let known = await ready();
      if (!known.kids.has(kid)) known = await ready(limits.unknownKeyReloadMs);
      const key = known.stored.find(one => one.kid === kid);
      return key && importOnce.get('verify', kid, () => key.publicJwk);
    },
    isPublished: kid =>
      loaded !== undefined && clock.now() - loaded.loadedMs < limits.signingReloadMs && loaded.kids.has(kid),
    jwks: async () => ({ keys: (await ready()).stored.map(publishedJwk) }),
    async rotate(options) {
      const { stored } = await reload();
      for (const key of stored.slice(-2)) openKey(base, key); // throws first if the server has other secret keys
      await startNextKey(base, stored, options);
      // A running load may have read before the write, and would restore a revoked key.
      await loading?.catch(() => {});
      await reload();
    },
    // A key takes over by time alone, but its successor must be published early enough.
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

// Importing a key costs more than signing with it.
function createImports() {
  const imported = new Map<string, { kid: string; key: Promise<CryptoKey> }>();
  return {
    get(use: 'sign' | 'verify', kid: string, jwk: () => string): Promise<CryptoKey> {
      const name = `${use} ${kid}`;
      const cached = imported.get(name);
      if (cached) return cached.key;
      const key = Promise.resolve(importJWK(JSON.parse(jwk()), 'ES256') as Promise<CryptoKey>);
      imported.set(name, { kid, key });
      key.catch(() => imported.delete(name));
      return key;
    },
    keepOnly(kids: ReadonlySet<string>): void {
      for (const [name, { kid }] of imported) if (!kids.has(kid)) imported.delete(name);
    },
  };
}

// If our clock is behind that of the process that created the first key, that key signs anyway.
const signerOf = (stored: readonly StoredSigningKey[], nowMs: number): StoredSigningKey =>
  stored.findLast(key => key.signsFrom <= nowMs) ?? stored[0]!;

const publishedJwk = ({ kid, publicJwk }: StoredSigningKey): JWK => ({
  ...JSON.parse(publicJwk),
  kid,
  alg: 'ES256',
  use: 'sig',
});

// The stored keys, after creating any that are missing.
async function readComplete(deps: KeysDeps): Promise<StoredSigningKey[]> {
  let stored = await readStored(deps);
  // At most twice: the first key, then its successor.
  while (await addMissing(deps, stored)) stored = await readStored(deps);
  await resealStale(deps, stored);
  return stored;
}

async function readStored({ store }: KeysDeps): Promise<StoredSigningKey[]> {
  const stored: StoredSigningKey[] = [];
  for await (const key of store.all(signingKeys, {})) stored.push(key);
  return stored;
}

async function addMissing(deps: KeysDeps, stored: readonly StoredSigningKey[]): Promise<boolean> {
  const last = stored.at(-1);
  const nowMs = deps.clock.now();
  if (last && (last.signsFrom > nowMs || !opens(deps, last))) return false;
  const signsFrom = last
    ? Math.max(last.signsFrom + limits.signingKeyS * 1000, nowMs + limits.signingMarginS * 1000)
    : nowMs;
  const made = await makeKey(deps, (last?.sequence ?? 0) + 1, signsFrom);
  await writeUnlessLost(deps, {
    'the key': write.put(signingKey, made, { ifAbsent: true }),
    ...(last && { 'the last one': retire(last, signsFrom) }),
  });
  return true;
}

const openKey = ({ sealer }: KeysDeps, { privateJwk, sequence }: StoredSigningKey): string =>
  sealer.openText(privateJwk, sealLocation(sequence));

// A process that cannot open the last key has other secret keys than the signing processes, which could not open a
// successor made here.
function opens(deps: KeysDeps, stored: StoredSigningKey): boolean {
  try {
    openKey(deps, stored);
    return true;
  } catch (error) {
    if (error instanceof SealError) return false;
    throw error;
  }
}

async function makeKey({ sealer, clock }: KeysDeps, sequence: number, signsFrom: number) {
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
}

const retire = ({ sequence }: StoredSigningKey, signsUntilMs: number): WriteStep =>
  write.update(signingKey, { sequence }, { set: { expiresAt: retiresAt(signsUntilMs) } });

async function startNextKey(
  deps: KeysDeps,
  stored: readonly StoredSigningKey[],
  { revoke = false } = {},
): Promise<void> {
  const nowMs = deps.clock.now();
  const last = signerOf(stored, nowMs);
  const next = stored.find(key => key.sequence === last.sequence + 1);
  if (!next) return;
  const { sequence, signsFrom, kid } = next;
  const start = { set: { signsFrom: nowMs } };
  await writeUnlessLost(deps, {
    'the next key': write.update(signingKey, { sequence }, start, { if: { signsFrom } }),
    'the last one': revoke ? write.delete(signingKey, { sequence: last.sequence }) : retire(last, nowMs),
  });
  deps.log.info({ kid, was: last.kid, revoke }, 'signing keys were rotated');
}

// A key is stored for months. Sealing it again lets an operator drop the secret key it was sealed with.
async function resealStale(deps: KeysDeps, stored: readonly StoredSigningKey[]): Promise<void> {
  for (const { sequence, privateJwk } of stored) {
    const resealed = resealedOf(deps, privateJwk, sealLocation(sequence));
    if (resealed === undefined) continue;
    const change = { set: { privateJwk: resealed } };
    await writeUnlessLost(deps, {
      'seal it again': write.update(signingKey, { sequence }, change, { if: { privateJwk } }),
    });
  }
}

// A key that cannot be opened may still be needed to verify: only signing with it fails.
function resealedOf({ sealer }: KeysDeps, sealed: string, location: string): string | undefined {
  try {
    return sealer.isStale(sealed) ? sealer.seal(sealer.open(sealed, location), location) : undefined;
  } catch (error) {
    if (error instanceof SealError) return undefined;
    throw error;
  }
}

// Another process made the same change first: its write counts.
async function writeUnlessLost({ store }: KeysDeps, steps: Record<string, WriteStep>): Promise<void> {
  try {
    await store.transact(steps, { pattern: 'rotate signing keys' });
  } catch (error) {
    if (failedStep(error)?.reason !== 'condition_failed') throw error;
  }
}
