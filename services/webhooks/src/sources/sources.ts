import { versionMismatch } from '@stak/http';
import { type Change, failedStep, is, type WriteStep, write } from '@stak/table';
import type { z } from 'zod';
import { totalsOf } from '../analytics/analytics.ts';
import { createWithin } from '../create-within.ts';
import { scheduleBacklog } from '../delivery/backlog.ts';
import type { BaseDeps } from '../deps.ts';
import { notFound, webhookErrors } from '../errors.ts';
import * as limits from '../limits.ts';
import { connection, type Source, source, sourcePointer, sourcesOfUser } from '../main-table.ts';
import { makeOnce, type Once } from '../once.ts';
import { type NewSource, newSourceSchema, type SourceChange } from '../schema.ts';
import { writeSigningAlgorithm } from '../signatures/custom.ts';
import { type Secrets, sourceSecretContext } from '../signatures/secrets.ts';
import { createSigningSecret } from '../signatures/signing.ts';
import { findOwnerOfSource } from '../source-owner.ts';
import { inSeconds, isoTime } from '../tables.ts';
import { adoptSource } from './adopt.ts';
import type { SourceCache } from './source-cache.ts';

// A new secret is returned to the caller once, and never shown again.
type WithSecret = Source & { newAlertSecret?: string };

export type Sources = {
  create(input: NewSource & { userId: string }, once?: Once): Promise<WithSecret>;
  getById(sourceId: string): Promise<Source | null>;
  listByUser(userId: string): Promise<Source[]>;
  // Ids of those that received an event last, or were made last.
  lastActive(userId: string, most: number): Promise<string[]>;
  update(
    sourceId: string,
    userId: string,
    updates: SourceChange,
    options?: { ifVersion?: number },
  ): Promise<WithSecret>;
  rotateAlertSecret(sourceId: string, userId: string, once?: Once): Promise<WithSecret>;
  delete(sourceId: string, userId: string, options?: { ifVersion?: number }): Promise<void>;
  // The user's own source. Another user's source gives the same error as a missing one.
  owned(sourceId: string, userId: string): Promise<Source>;
};

type SourcesDeps = BaseDeps & { secrets: Secrets; sourceCache: SourceCache; refuseUrl(url: string): void };
type SourceEdit = Change<Source, { userId: string; sourceId: string }>;

export function createSources(deps: SourcesDeps): Sources {
  const { store, clock, secrets, sourceCache } = deps;
  const ordinary: Once = { ids: deps.ids, isRepeated: false };

  const owned = async (sourceId: string, userId: string): Promise<Source> => {
    const stored = await store.get(source, { userId, sourceId }, { consistent: true });
    const found = stored && (await adoptSource(deps, stored));
    if (!found || found.status === 'deleted') throw notFound('source');
    return found;
  };

  const edit = async (
    found: Source,
    change: SourceEdit,
    more: readonly (readonly [string, WriteStep])[],
    ifVersion: number | undefined,
  ): Promise<void> => {
    const { userId, sourceId } = found;
    const edited = write.update(source, { userId, sourceId }, change, {
      current: found,
      if: { status: is.not('deleted') },
      ifVersion,
    });
    try {
      await store.transact([['source', edited], ...more], { pattern: 'edit source' });
    } catch (error) {
      const failure = failedStep(error);
      if (failure?.step !== 'source') throw error;
      throw failure.current && ifVersion !== undefined ? versionMismatch() : notFound('source');
    } finally {
      sourceCache.invalidate(sourceId);
    }
  };

  const withAlertSecret = (found: Source): WithSecret => {
    const [newAlertSecret] = secrets.open(
      found.alertSecret,
      sourceSecretContext(found.sourceId, 'alertSecret'),
    );
    return { ...found, newAlertSecret };
  };

  // Releases what waits for the source's connections.
  const scheduleBacklogs = async (sourceId: string) => {
    const known = await sourceCache.getFresh(sourceId);
    return (known?.connections ?? []).map(
      connection =>
        [`backlog of ${connection.connectionId}`, scheduleBacklog(deps, connection, clock.now())] as const,
    );
  };
  // A connection created while the source was resumed was not among those. Its creation has scheduled its backlog too,
  // for when this process has crashed before it gets here, but much later.
  const scheduleNewer = async (sourceId: string, before: readonly (readonly [string, WriteStep])[]) => {
    const scheduled = new Set(before.map(([name]) => name));
    const newer = (await scheduleBacklogs(sourceId)).filter(([name]) => !scheduled.has(name));
    if (newer.length > 0) await store.transact(newer, { pattern: 'schedule newer backlogs' });
  };

  return {
    owned,
    async create({ userId, ...input }, { ids, isRepeated } = ordinary) {
      const given = newSourceSchema.parse(input);
      refuseSenderFields(given.provider, input);
      if (given.alertUrl !== undefined) deps.refuseUrl(given.alertUrl);
      const checkCount = async () => {
        if ((await this.listByUser(userId)).length < limits.sourcesPerUser) return;
        throw webhookErrors.create('webhooks.too_many_sources', 'The account has too many sources.', {
          most: limits.sourcesPerUser,
        });
      };
      const sourceId = ids.next('src');
      const find = async (): Promise<WithSecret | undefined> => {
        const found = await store.get(source, { userId, sourceId }, { consistent: true });
        return found && (given.alertUrl === undefined ? found : withAlertSecret(found));
      };
      const make = async (): Promise<WithSecret> => {
        const newAlertSecret = given.alertUrl === undefined ? undefined : createSigningSecret();
        const item = newSourceItem(deps, { userId, sourceId, given, newAlertSecret });
        const steps = () => ({
          source: write.put(source, item, { ifNew: true }),
          pointer: write.put(sourcePointer, { sourceId, userId }),
        });
        await createWithin(deps, `sources of ${userId}`, checkCount, steps, { pattern: 'create source' });
        return { ...item, version: 1, newAlertSecret };
      };
      const made = await makeOnce({ isRepeated }, find, make);
      sourceCache.invalidateList(userId);
      sourceCache.setOwner(sourceId, userId);
      return made;
    },

    async getById(sourceId) {
      const userId = await findOwnerOfSource(store, sourceId);
      if (userId === undefined) return null;
      const stored = await store.get(source, { userId, sourceId }, { consistent: true });
      const found = stored && (await adoptSource(deps, stored));
      return found && found.status !== 'deleted' ? found : null;
    },

    async listByUser(userId) {
      const found: Source[] = [];
      for await (const one of store.all(sourcesOfUser, { userId })) {
        const known = await adoptSource(deps, one);
        if (known && known.status !== 'deleted') found.push(known);
      }
      return found;
    },

    async lastActive(userId, most) {
      const found = await this.listByUser(userId);
      if (found.length <= most) return found.map(one => one.sourceId);
      const totals = await totalsOf(store, userId);
      const lastAt = (one: Source) => totals.get(one.sourceId)?.lastAt ?? Date.parse(one.createdAt);
      return found
        .toSorted((a, b) => lastAt(b) - lastAt(a))
        .slice(0, most)
        .map(one => one.sourceId);
    },

    async update(sourceId, userId, updates, { ifVersion } = {}) {
      const found = await owned(sourceId, userId);
      refuseSenderFields(found.provider, updates);
      if (updates.alertUrl) deps.refuseUrl(updates.alertUrl);
      const newAlertSecret = updates.alertUrl && !found.alertSecret ? createSigningSecret() : undefined;
      const change = sourceChange(deps, found, updates, newAlertSecret);
      const isResumed = updates.status === 'active' && found.status !== 'active';
      const backlogs = isResumed ? await scheduleBacklogs(sourceId) : [];
      await edit(found, change, backlogs, ifVersion);
      if (isResumed) await scheduleNewer(sourceId, backlogs);
      return { ...(await owned(sourceId, userId)), newAlertSecret };
    },

    async rotateAlertSecret(sourceId, userId, { ids, isRepeated } = ordinary) {
      const alertRotationId = ids.next('rot');
      const find = async () => {
        const found = await owned(sourceId, userId);
        return found.alertRotationId === alertRotationId ? withAlertSecret(found) : undefined;
      };
      return makeOnce({ isRepeated }, find, async () => {
        const found = await owned(sourceId, userId);
        const newAlertSecret = createSigningSecret();
        const context = sourceSecretContext(sourceId, 'alertSecret');
        const alertSecret = secrets.rotate(found.alertSecret, newAlertSecret, context);
        const set = { alertSecret, alertRotationId, updatedAt: isoTime(clock.now()) };
        await edit(found, { set }, [], found.version);
        return { ...found, ...set, version: found.version + 1, newAlertSecret };
      });
    },

    async delete(sourceId, userId, { ifVersion } = {}) {
      const found = await owned(sourceId, userId);
      const nowMs = clock.now();
      const set = {
        status: 'deleted' as const,
        updatedAt: isoTime(nowMs),
        expiresAt: inSeconds(nowMs) + limits.retiredS,
      };
      // Its connections are deleted too. Their backlogs are released, and deliveries without a connection are cancelled.
      const known = await sourceCache.getFresh(sourceId, userId);
      const retired = (known?.connections ?? []).map(({ connectionId }) => {
        const step = write.update(connection, { sourceId, connectionId }, { set });
        return [`connection ${connectionId}`, step] as const;
      });
      const pointer = write.put(sourcePointer, { sourceId, userId, expiresAt: set.expiresAt });
      const steps = [['pointer', pointer] as const, ...retired, ...(await scheduleBacklogs(sourceId))];
      await edit(found, { set }, steps, ifVersion);
    },
  };
}

type Sealing = Pick<SourcesDeps, 'clock' | 'secrets'>;

function newSourceItem(
  { clock, secrets }: Sealing,
  made: {
    userId: string;
    sourceId: string;
    given: z.infer<typeof newSourceSchema>;
    newAlertSecret: string | undefined;
  },
) {
  const { userId, sourceId, newAlertSecret } = made;
  const { signingSecret, verifyToken, signingAlgorithm, ...given } = made.given;
  const seal = (secret: string | undefined, field: string) =>
    secret && secrets.seal(secret, sourceSecretContext(sourceId, field));
  const now = isoTime(clock.now());
  return {
    ...given,
    userId,
    sourceId,
    signatures: given.signatures ?? (signingSecret === undefined ? 'off' : 'reject'),
    signingSecret: seal(signingSecret, 'signingSecret'),
    verifyToken: seal(verifyToken, 'verifyToken'),
    signingAlgorithm: signingAlgorithm && writeSigningAlgorithm(signingAlgorithm),
    alertSecret: seal(newAlertSecret, 'alertSecret'),
    whilePaused: given.whilePaused ?? ('hold' as const),
    status: 'active' as const,
    createdAt: now,
    updatedAt: now,
  };
}

function sourceChange(
  { clock, secrets }: Sealing,
  { sourceId, ...found }: Source,
  updates: SourceChange,
  newAlertSecret: string | undefined,
): SourceEdit {
  const { signingSecret, verifyToken, signingAlgorithm, dedupeHeader, alertUrl, toleranceS, ...plain } =
    updates;
  const contextOf = (field: string) => sourceSecretContext(sourceId, field);
  const set = {
    // The first secret switches the check on, as it does for a new source.
    ...(signingSecret &&
      !found.signingSecret &&
      found.signatures === 'off' && { signatures: 'reject' as const }),
    ...plain,
    ...present({ dedupeHeader, alertUrl, toleranceS }),
    ...(signingAlgorithm && { signingAlgorithm: writeSigningAlgorithm(signingAlgorithm) }),
    ...(signingSecret && {
      signingSecret: secrets.rotate(found.signingSecret, signingSecret, contextOf('signingSecret')),
    }),
    ...(verifyToken && { verifyToken: secrets.seal(verifyToken, contextOf('verifyToken')) }),
    ...(newAlertSecret && { alertSecret: secrets.seal(newAlertSecret, contextOf('alertSecret')) }),
    updatedAt: isoTime(clock.now()),
  };
  const alertSecret = alertUrl === null ? null : undefined;
  const remove = removed({ signingSecret, verifyToken, dedupeHeader, alertUrl, alertSecret, toleranceS });
  return { set, remove };
}

// These concern outside senders only: signatures, handshakes, and ids in a header.
const senderFields = [
  'signingSecret',
  'signingAlgorithm',
  'signatures',
  'toleranceS',
  'verifyToken',
  'dedupeHeader',
] as const;

function refuseSenderFields(provider: Source['provider'], given: SourceChange): void {
  if (provider !== 'stak' && given.auditTrail)
    throw webhookErrors.create(
      'webhooks.field_refused',
      'Only a source with the provider `stak` receives the audit trail.',
      { fields: ['auditTrail'] },
    );
  const fields = senderFields.filter(name => given[name] != null);
  if (provider !== 'stak' || fields.length === 0) return;
  const message = `Stak itself sends to this source, so these fields have no effect: ${fields.join(', ')}.`;
  throw webhookErrors.create('webhooks.field_refused', message, { fields });
}

type Settings = Record<string, unknown>;

const present = <T extends Settings>(settings: T) =>
  Object.fromEntries(Object.entries(settings).filter(([, value]) => value != null)) as {
    [K in keyof T]?: NonNullable<T[K]>;
  };

const removed = <T extends Settings>(settings: T) =>
  Object.keys(settings).filter(name => settings[name] === null) as (keyof T & string)[];
