import { randomInt } from 'node:crypto';
import { holdsScope } from '@stak/http';
import { type MaybePromise, whenKnown } from '@stak/kit';
import { createWithin, failedStep, is, or, tableErrors, type WriteStep, write } from '@stak/table';
import { type AnnounceEnd, type Base, inSeconds, isoTime, sha256 } from '../deps.ts';
import { accountsErrors } from '../errors.ts';
import * as limits from '../limits.ts';
import { type ApiKey, apiKey, apiKeyHash, creation, keysOfUser, profile } from '../main-table.ts';
import type { Recent } from '../recent.ts';
import { roles } from '../roles.ts';
import type { Permission } from '../schema.ts';
import type { KeyLimits } from './key-limits.ts';
import type { Memberships } from './memberships.ts';

const keyStart = 'stak_';
const keyStarts = [keyStart, 'fh_live_']; // the specification's prefix, for older keys
const secretChars = 40; // of 62: 238 bits
const shownChars = keyStart.length + 6; // the specification's eight characters would be the same for every key
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

export type NewApiKey = {
  name: string;
  permissions: Permission;
  expiresAt?: string;
  tenants?: string[];
  addresses?: string[];
};
export type KeyOwner = KeyLimits & {
  keyId: string;
  userId: string;
  madeBy?: string;
  permissions: Permission;
};
type Also = Readonly<Record<string, WriteStep>>;
type KeyCreator = Pick<KeyOwner, 'userId' | 'madeBy' | 'permissions'>;

export type ApiKeys = {
  // The only place where the key itself is returned: it is not stored.
  create(
    userId: string,
    input: NewApiKey & { madeBy?: string },
    also?: (keyId: string) => Also,
  ): Promise<{ key: string; apiKey: ApiKey }>;
  getByHash(keyHash: string): Promise<ApiKey | null>;
  listByUser(userId: string): Promise<ApiKey[]>;
  delete(keyId: string, userId: string, also?: Also): Promise<void>;
  updateLastUsed(keyId: string, userId: string): Promise<void>;
  // The owner of a key that a caller presents, from the table or a recent cache.
  findOwner(keyHash: string, fresh?: boolean): MaybePromise<KeyOwner | undefined>;
  // For a caller who presents something that was made with a key.
  isLive(userId: string, keyId: string, fresh?: boolean): MaybePromise<boolean>;
  // Call after a change of what makers of keys may do: of a role, or of a disabled account.
  forgetAll(): void;
};

// Ends all keys of an account, or those that one person made, one by one. If it fails half-way, the next attempt ends
// the rest.
export async function endApiKeys(apiKeys: ApiKeys, userId: string, makerId?: string): Promise<void> {
  const isMeant = ({ madeBy = userId }: ApiKey) => makerId === undefined || madeBy === makerId;
  for (const { keyId } of (await apiKeys.listByUser(userId)).filter(isMeant))
    await apiKeys.delete(keyId, userId).catch(error => {
      if (!accountsErrors.includes(error) || error.code !== 'accounts.key_not_found') throw error;
    });
}

const idStart = 'key';
export const isKeyId = (id: string): boolean => id.startsWith(`${idStart}_`);

export const isApiKey = (token: string): boolean => keyStarts.some(start => token.startsWith(start));

export function createApiKeys({
  store,
  clock,
  ids,
  owners,
  live,
  announceEnd,
  memberships,
}: Base & {
  memberships: Memberships;
  owners: Recent<KeyOwner>;
  live: Recent<true>;
  announceEnd: AnnounceEnd;
}): ApiKeys {
  const listByUser = async (userId: string): Promise<ApiKey[]> => {
    const keys: ApiKey[] = [];
    for await (const key of store.all(keysOfUser, { userId })) keys.push(key);
    return keys;
  };
  const readOwner = async (keyHash: string) => {
    const storedApiKeyHash = await store.get(apiKeyHash, { keyHash }, { consistent: true });
    if (!storedApiKeyHash || storedApiKeyHash.isDisabled) return undefined;
    const permissions = await boundOf(storedApiKeyHash);
    return permissions && { ...storedApiKeyHash, permissions };
  };
  // A key is bound to its maker: it ends with their membership, and grants no more than their role.
  const boundOf = async ({
    userId,
    madeBy = userId,
    permissions,
  }: KeyCreator): Promise<Permission | undefined> => {
    const role = await memberships.roleIn(userId, madeBy);
    if (role === undefined) return undefined;
    const { scope } = roles[role];
    return holdsScope(scope, permissions) ? permissions : scope;
  };
  const isGood = async (userId: string, keyId: string): Promise<true | undefined> => {
    const storedApiKey = await store.get(apiKey, { userId, keyId }, { consistent: true });
    const isOver = storedApiKey?.endsAtMs !== undefined && storedApiKey.endsAtMs <= clock.now();
    return storedApiKey && !storedApiKey.isDisabled && !isOver && (await boundOf(storedApiKey))
      ? true
      : undefined;
  };

  return {
    listByUser,
    findOwner: (keyHash, fresh) => owners.get(keyHash, () => readOwner(keyHash), fresh),
    isLive: (userId, keyId, fresh) =>
      whenKnown(
        live.get(keyId, () => isGood(userId, keyId), fresh),
        wasFound => wasFound === true,
      ),

    forgetAll() {
      owners.forgetAll();
      live.forgetAll();
    },

    async create(userId, wanted, also = () => ({})) {
      const endsAtMs = wanted.expiresAt === undefined ? undefined : Date.parse(wanted.expiresAt);
      if (endsAtMs !== undefined && endsAtMs <= clock.now()) throw expiryPast();
      const { key, listed, byHash } = makeKey(userId, ids.next(idStart), wanted, endsAtMs, clock.now());
      const isActive = { deletingAt: is.absent, disabledAt: is.absent };
      const steps = {
        'the user': write.check(profile, { userId }, { present: true, if: isActive }),
        'the key': write.put(apiKey, listed, { ifAbsent: true }),
        'its hash': write.put(apiKeyHash, byHash, { ifAbsent: true }),
        ...also(listed.keyId),
      };
      const expiresAt = inSeconds(clock.now()) + limits.creationS;
      await createWithin(store, creation, {
        key: { userId, of: 'keys' },
        mark: () => ({ userId, of: 'keys' as const, expiresAt }),
        async check() {
          if ((await listByUser(userId)).length >= limits.apiKeysPerUser) throw tooManyKeys();
        },
        create: step => store.transact({ ...steps, ...step }, { pattern: 'create API key' }),
      }).catch(error => {
        if (failedStep(error)?.step !== 'the user') throw error;
        throw accountsErrors.create('accounts.being_deleted', 'This account is being deleted.');
      });
      return { key, apiKey: listed };
    },

    async getByHash(keyHash) {
      const owner = await readOwner(keyHash);
      if (!owner) return null;
      const { keyId, userId } = owner;
      return (await store.get(apiKey, { keyId, userId }, { consistent: true })) ?? null;
    },

    async delete(keyId, userId, also = {}) {
      const storedApiKey = await store.get(apiKey, { keyId, userId }, { consistent: true });
      if (!storedApiKey) throw keyNotFound();
      const { keyHash } = storedApiKey;
      await announceEnd(userId);
      const steps = {
        'the key': write.delete(apiKey, { keyId, userId }, { ifPresent: true }),
        'its hash': write.delete(apiKeyHash, { keyHash }),
        ...also,
      };
      try {
        await store.transact(steps, { pattern: 'delete API key' });
      } catch (error) {
        throw failedStep(error)?.step === 'the key' ? keyNotFound() : error;
      } finally {
        owners.forget(keyHash);
        live.forget(keyId);
      }
    },

    async updateLastUsed(keyId, userId) {
      const nowMs = clock.now();
      const before = isoTime(nowMs - limits.lastUsedMs);
      try {
        await store.update(
          apiKey,
          { keyId, userId },
          { set: { lastUsedAt: isoTime(nowMs) } },
          { if: or({ lastUsedAt: is.absent }, { lastUsedAt: is.atMost(before) }) },
        );
      } catch (error) {
        // Another caller has just written it, or the key was deleted.
        if (!tableErrors.includes(error) || error.code !== 'table.condition_failed') throw error;
      }
    },
  };
}

// The key itself, the item that is listed, and the item that is found by its hash.
function makeKey(
  userId: string,
  keyId: string,
  { name, permissions, madeBy, tenants, addresses }: NewApiKey & { madeBy?: string },
  endsAtMs: number | undefined,
  nowMs: number,
) {
  const key = keyStart + randomText(secretChars);
  const keyHash = sha256(key);
  const shared = {
    keyId,
    userId,
    keyHash,
    permissions,
    ...(madeBy !== undefined && madeBy !== userId && { madeBy }),
    endsAtMs,
    tenants,
    addresses,
    expiresAt: endsAtMs === undefined ? undefined : inSeconds(endsAtMs) + limits.keyListedS,
  };
  const listed: ApiKey = { ...shared, name, keyPrefix: key.slice(0, shownChars), createdAt: isoTime(nowMs) };
  return { key, listed, byHash: shared };
}

const tooManyKeys = () =>
  accountsErrors.create(
    'accounts.too_many_keys',
    'You have the maximum number of keys. Delete one before you create another.',
    { most: limits.apiKeysPerUser },
  );
const expiryPast = () =>
  accountsErrors.create('accounts.key_expiry_past', 'A key cannot expire in the past.', {
    errors: [{ in: 'body', pointer: '#/expiresAt', code: 'key_expiry_past', detail: 'Choose a later time.' }],
  });

const keyNotFound = () => accountsErrors.create('accounts.key_not_found', 'API key not found.');

const randomText = (length: number): string =>
  Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('');
