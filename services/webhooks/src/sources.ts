import { versionMismatch } from '@stak/http';
import { type Change, failedStep, is, type WriteStep, write } from '@stak/table';
import type { Config } from './config.ts';
import { type Base, inSeconds, isoTime } from './deps.ts';
import { notFound, webhookErrors } from './errors.ts';
import { armLane } from './lane-arming.ts';
import * as limits from './limits.ts';
import { connection, type Source, source, sourceById, sourcesOfUser } from './main-table.ts';
import { type NewSource, newSourceSchema, type SourceChange } from './schema.ts';
import { type Secrets, sourcePlace } from './secrets.ts';
import { writeSigningAlgorithm } from './signatures/schema.ts';
import { createSigningSecret } from './signatures/signing.ts';

// A secret that was made on the way is shown to the caller, and nowhere else from then on.
type WithSecret = Source & { newAlertSecret?: string };

export type Sources = {
  create(input: NewSource & { userId: string }): Promise<WithSecret>;
  getById(sourceId: string): Promise<Source | null>;
  listByUser(userId: string): Promise<Source[]>;
  update(
    sourceId: string,
    userId: string,
    updates: SourceChange,
    options?: { ifVersion?: number },
  ): Promise<WithSecret>;
  rotateAlertSecret(sourceId: string, userId: string): Promise<WithSecret>;
  delete(sourceId: string, userId: string, options?: { ifVersion?: number }): Promise<void>;
  // The caller's own; anybody else's is as missing as one that never was.
  owned(sourceId: string, userId: string): Promise<Source>;
};

export function createSources(
  deps: Base & { secrets: Secrets; config: Config; refuseUrl(url: string): void },
): Sources {
  const { store, clock, ids, secrets, config } = deps;

  const owned = async (sourceId: string, userId: string): Promise<Source> => {
    const found = await store.get(source, { userId, sourceId }, { consistent: true });
    if (!found || found.status === 'deleted') throw notFound('source');
    return found;
  };

  const edit = async (
    found: Source,
    change: Change<Source, { userId: string; sourceId: string }>,
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
      config.forget(sourceId);
    }
  };

  // Whatever waits for the source's connections is looked after again.
  const armLanes = async (sourceId: string) => {
    const known = await config.fresh(sourceId);
    return (known?.connections ?? []).map(
      one => [`lane of ${one.connectionId}`, armLane(one, clock.now())] as const,
    );
  };

  return {
    owned,
    async create({ userId, ...input }) {
      const { signingSecret, verifyToken, signingAlgorithm, ...given } = newSourceSchema.parse(input);
      refuseSenderFields(given.provider, input);
      if (given.alertUrl !== undefined) deps.refuseUrl(given.alertUrl);
      if ((await this.listByUser(userId)).length >= limits.sourcesPerUser)
        throw webhookErrors.create('webhooks.too_many_sources', 'There are too many sources.', {
          most: limits.sourcesPerUser,
        });
      const sourceId = ids.next('src');
      const newAlertSecret = given.alertUrl === undefined ? undefined : createSigningSecret();
      const now = isoTime(clock.now());
      const made = await store.put(
        source,
        {
          ...given,
          userId,
          sourceId,
          signatures: given.signatures ?? (signingSecret === undefined ? 'off' : 'reject'),
          signingSecret: signingSecret && secrets.seal(signingSecret, sourcePlace(sourceId, 'signingSecret')),
          verifyToken: verifyToken && secrets.seal(verifyToken, sourcePlace(sourceId, 'verifyToken')),
          signingAlgorithm: signingAlgorithm && writeSigningAlgorithm(signingAlgorithm),
          alertSecret: newAlertSecret && secrets.seal(newAlertSecret, sourcePlace(sourceId, 'alertSecret')),
          whilePaused: given.whilePaused ?? 'hold',
          status: 'active',
          createdAt: now,
          updatedAt: now,
        },
        { ifAbsent: true },
      );
      config.forgetList(userId);
      await config.fresh(sourceId, userId); // this process need not wait for the index
      return { ...made, newAlertSecret };
    },

    async getById(sourceId) {
      const { items } = await store.query(sourceById, { sourceId }, { limit: 1 });
      const indexed = items[0];
      if (!indexed) return null;
      const { userId } = indexed;
      const found = await store.get(source, { userId, sourceId }, { consistent: true });
      return found && found.status !== 'deleted' ? found : null;
    },

    async listByUser(userId) {
      const found: Source[] = [];
      for await (const one of store.all(sourcesOfUser, { userId }))
        if (one.status !== 'deleted') found.push(one);
      return found;
    },

    async update(sourceId, userId, updates, { ifVersion } = {}) {
      const found = await owned(sourceId, userId);
      refuseSenderFields(found.provider, updates);
      if (updates.alertUrl) deps.refuseUrl(updates.alertUrl);
      const { signingSecret, verifyToken, signingAlgorithm, dedupeHeader, alertUrl, toleranceS, ...plain } =
        updates;
      const at = (field: string) => sourcePlace(sourceId, field);
      const newAlertSecret = alertUrl && !found.alertSecret ? createSigningSecret() : undefined;
      const set = {
        ...plain,
        ...present({ dedupeHeader, alertUrl, toleranceS }),
        ...(signingAlgorithm && { signingAlgorithm: writeSigningAlgorithm(signingAlgorithm) }),
        ...(signingSecret && {
          signingSecret: secrets.rotate(found.signingSecret, signingSecret, at('signingSecret')),
        }),
        ...(verifyToken && { verifyToken: secrets.seal(verifyToken, at('verifyToken')) }),
        ...(newAlertSecret && { alertSecret: secrets.seal(newAlertSecret, at('alertSecret')) }),
        updatedAt: isoTime(clock.now()),
      };
      const alertSecret = alertUrl === null ? null : undefined;
      const remove = removed({
        signingSecret,
        verifyToken,
        dedupeHeader,
        alertUrl,
        alertSecret,
        toleranceS,
      });
      const isResumed = updates.status === 'active' && found.status !== 'active';
      await edit(found, { set, remove }, isResumed ? await armLanes(sourceId) : [], ifVersion);
      return { ...(await owned(sourceId, userId)), newAlertSecret };
    },

    async rotateAlertSecret(sourceId, userId) {
      const found = await owned(sourceId, userId);
      const newAlertSecret = createSigningSecret();
      const place = sourcePlace(sourceId, 'alertSecret');
      const alertSecret = secrets.rotate(found.alertSecret, newAlertSecret, place);
      const set = { alertSecret, updatedAt: isoTime(clock.now()) };
      await edit(found, { set }, [], found.version);
      return { ...(await owned(sourceId, userId)), newAlertSecret };
    },

    async delete(sourceId, userId, { ifVersion } = {}) {
      const found = await owned(sourceId, userId);
      const nowMs = clock.now();
      const set = {
        status: 'deleted' as const,
        updatedAt: isoTime(nowMs),
        expiresAt: inSeconds(nowMs) + limits.retiredS,
      };
      // Its connections go with it. What they hold is released, and then found to have no connection any more.
      const known = await config.fresh(sourceId, userId);
      const retired = (known?.connections ?? []).map(({ connectionId }) => {
        const step = write.update(connection, { sourceId, connectionId }, { set });
        return [`connection ${connectionId}`, step] as const;
      });
      await edit(found, { set }, [...retired, ...(await armLanes(sourceId))], ifVersion);
    },
  };
}

// What only somebody outside can do: sign, ask whether the address is ours, send an id in a header.
const senderFields = [
  'signingSecret',
  'signingAlgorithm',
  'signatures',
  'toleranceS',
  'verifyToken',
  'dedupeHeader',
] as const;

function refuseSenderFields(provider: Source['provider'], given: SourceChange): void {
  const fields = senderFields.filter(name => given[name] != null);
  if (provider !== 'stak' || fields.length === 0) return;
  const message = `Stak itself sends to this source: ${fields.join(', ')} would do nothing.`;
  throw webhookErrors.create('webhooks.field_refused', message, { fields });
}

type Settings = Record<string, unknown>;

const present = <T extends Settings>(settings: T) =>
  Object.fromEntries(Object.entries(settings).filter(([, value]) => value != null)) as {
    [K in keyof T]?: NonNullable<T[K]>;
  };

const removed = <T extends Settings>(settings: T) =>
  Object.keys(settings).filter(name => settings[name] === null) as (keyof T & string)[];
