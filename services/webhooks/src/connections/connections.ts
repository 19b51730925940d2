import { versionMismatch } from '@stak/http';
import { type Change, failedStep, is, type Store, type WriteStep, write } from '@stak/table';
import type { z } from 'zod';
import { createWithin } from '../create-within.ts';
import { scheduleBacklog } from '../delivery/backlog.ts';
import type { BaseDeps } from '../deps.ts';
import { notFound, webhookErrors } from '../errors.ts';
import { catchUpSteps } from '../events/jobs.ts';
import * as limits from '../limits.ts';
import { type Connection, connection, connectionPointer, source } from '../main-table.ts';
import { makeOnce, type Once } from '../once.ts';
import { type ConnectionChange, type NewConnection, newConnectionSchema } from '../schema.ts';
import { connectionSecretContext, type Secrets } from '../signatures/secrets.ts';
import { createSigningSecret } from '../signatures/signing.ts';
import type { SourceCache } from '../sources/source-cache.ts';
import { inSeconds, isoTime } from '../tables.ts';

type Guarded = { ifVersion?: number };
type WithSecret = { connection: Connection; signingSecret: string };

export type Connections = {
  // The secret is returned once, and never shown again.
  create(input: NewConnection & { sourceId: string; userId: string }, once?: Once): Promise<WithSecret>;
  getById(connectionId: string): Promise<Connection | null>;
  listBySource(sourceId: string): Promise<Connection[]>;
  update(connectionId: string, updates: ConnectionChange, options?: Guarded): Promise<Connection>;
  rotateSecret(connectionId: string, once?: Once): Promise<WithSecret>;
  delete(connectionId: string, options?: Guarded): Promise<void>;
  owned(connectionId: string, userId: string): Promise<Connection>;
};

type ConnectionEdit = Change<Connection, { sourceId: string; connectionId: string }>;

export function createConnections(
  deps: BaseDeps & {
    secrets: Secrets;
    sourceCache: SourceCache;
    refuseUrl(url: string): void; // throws if requests to this URL are not allowed
  },
): Connections {
  const { store, clock, secrets, sourceCache } = deps;
  const ordinary: Once = { ids: deps.ids, isRepeated: false };

  const find = async (connectionId: string): Promise<Connection> => {
    const found = await findConnection(store, connectionId);
    if (!found) throw notFound('connection');
    return found;
  };

  const edit = async (
    { sourceId, connectionId }: Connection,
    change: ConnectionEdit,
    { ifVersion, more = {} }: Guarded & { more?: Record<string, WriteStep> },
  ): Promise<void> => {
    const guard = { if: { status: is.not('deleted' as const) }, ifVersion };
    const edited = write.update(connection, { sourceId, connectionId }, change, guard);
    try {
      await store.transact({ connection: edited, ...more }, { pattern: 'edit connection' });
    } catch (error) {
      const failure = failedStep(error);
      if (failure?.step !== 'connection') throw error;
      throw failure.current && ifVersion !== undefined ? versionMismatch() : notFound('connection');
    } finally {
      sourceCache.invalidate(sourceId);
    }
  };

  const withSecret = (found: Connection): WithSecret => {
    const [signingSecret] = secrets.open(found.signingSecret, connectionSecretContext(found.connectionId));
    return { connection: found, signingSecret: signingSecret! };
  };

  return {
    async owned(connectionId, userId) {
      const found = await find(connectionId);
      if (found.userId !== userId) throw notFound('connection');
      return found;
    },

    async create({ sourceId, userId, ...input }, { ids, isRepeated } = ordinary) {
      const given = newConnectionSchema.parse(input);
      deps.refuseUrl(given.destinationUrl);
      let isPaused = false;
      const checkCount = async () => {
        const view = await sourceCache.getFresh(sourceId, userId);
        isPaused = view?.source.status === 'paused';
        const { connections = [] } = view ?? {};
        if (connections.length < limits.connectionsPerSource) return;
        throw webhookErrors.create('webhooks.too_many_connections', 'The source has too many connections.', {
          most: limits.connectionsPerSource,
        });
      };
      const connectionId = ids.next('conn');
      const find = async () => {
        const found = await store.get(connection, { sourceId, connectionId }, { consistent: true });
        return found && withSecret(found);
      };
      const isThere = { present: true, if: { status: is.not('deleted' as const) } } as const;
      const make = async (): Promise<WithSecret> => {
        const signingSecret = createSigningSecret();
        const sealed = secrets.seal(signingSecret, connectionSecretContext(connectionId));
        const made = newConnectionItem(given, { userId, sourceId, connectionId }, sealed, clock.now());
        const steps = () => ({
          source: write.check(source, { userId, sourceId }, isThere),
          connection: write.put(connection, made, { ifAbsent: true }),
          pointer: write.put(connectionPointer, { connectionId, sourceId, userId }),
          ...catchUpSteps(deps, made, made.version),
          // A process that is resuming the source may not know this connection.
          ...(isPaused && { backlog: scheduleBacklog(deps, made, clock.now() + limits.settledMs) }),
        });
        const options = { pattern: 'create connection' };
        await createWithin(deps, `connections of ${sourceId}`, checkCount, steps, options);
        return { connection: made, signingSecret };
      };
      try {
        return await makeOnce({ isRepeated }, find, make);
      } catch (error) {
        throw failedStep(error)?.step === 'source' ? notFound('source') : error;
      } finally {
        sourceCache.invalidate(sourceId);
      }
    },

    getById: async connectionId => (await findConnection(store, connectionId)) ?? null,

    async listBySource(sourceId) {
      const known = await sourceCache.getFresh(sourceId);
      return [...(known?.connections ?? [])];
    },

    async update(connectionId, updates, { ifVersion } = {}) {
      const found = await find(connectionId);
      if (updates.destinationUrl !== undefined) deps.refuseUrl(updates.destinationUrl);
      const isActivated = updates.status === 'active' && found.status !== 'active';
      const hasNewRules = updates.filters !== undefined || updates.transform !== undefined;
      const more: Record<string, WriteStep> = {
        ...(isActivated && { backlog: scheduleBacklog(deps, found, clock.now()) }),
        ...(hasNewRules && catchUpSteps(deps, found, found.version + 1)),
      };
      await edit(found, connectionEdit(updates, isActivated, clock.now()), { ifVersion, more });
      return find(connectionId);
    },

    async rotateSecret(connectionId, { ids, isRepeated } = ordinary) {
      const rotationId = ids.next('rot');
      const findRotated = async () => {
        const found = await find(connectionId);
        return found.rotationId === rotationId ? withSecret(found) : undefined;
      };
      return makeOnce({ isRepeated }, findRotated, async () => {
        const found = await find(connectionId);
        const signingSecret = createSigningSecret();
        const context = connectionSecretContext(connectionId);
        const sealed = secrets.rotate(found.signingSecret, signingSecret, context);
        const set = { signingSecret: sealed, rotationId, updatedAt: isoTime(clock.now()) };
        await edit(found, { set }, { ifVersion: found.version });
        return { connection: { ...found, ...set, version: found.version + 1 }, signingSecret };
      });
    },

    async delete(connectionId, { ifVersion } = {}) {
      const found = await find(connectionId);
      const nowMs = clock.now();
      const set = {
        status: 'deleted' as const,
        updatedAt: isoTime(nowMs),
        expiresAt: inSeconds(nowMs) + limits.retiredS,
      };
      // Its backlog is released, and deliveries without a connection are cancelled.
      const more = {
        pointer: write.delete(connectionPointer, { connectionId }),
        backlog: scheduleBacklog(deps, found, nowMs),
      };
      await edit(found, { set }, { ifVersion, more });
    },
  };
}

function newConnectionItem(
  { filters, transform, retryConfig, ...given }: z.infer<typeof newConnectionSchema>,
  key: { userId: string; sourceId: string; connectionId: string },
  signingSecret: string,
  nowMs: number,
): Connection {
  const now = isoTime(nowMs);
  return {
    ...given,
    ...key,
    signingSecret,
    filters: JSON.stringify(filters ?? []),
    transform: JSON.stringify(transform ?? { type: 'passthrough' }),
    retryConfig: JSON.stringify(retryConfig ?? {}),
    maxConcurrency: given.maxConcurrency ?? limits.concurrency,
    ordered: given.ordered ?? false,
    status: 'active',
    breaker: 'closed',
    breakerTrips: 0,
    createdAt: now,
    updatedAt: now,
    version: 1,
  };
}

function connectionEdit(
  { filters, transform, retryConfig, maxConcurrency, ratePerSecond, ...plain }: ConnectionChange,
  isActivated: boolean,
  nowMs: number,
): ConnectionEdit {
  const remove: ('ratePerSecond' | 'disabledReason')[] = [];
  if (ratePerSecond === null) remove.push('ratePerSecond');
  if (isActivated) remove.push('disabledReason');
  const set: ConnectionEdit['set'] = {
    ...plain,
    ...(filters !== undefined && { filters: JSON.stringify(filters) }),
    ...(transform !== undefined && { transform: JSON.stringify(transform) }),
    ...(retryConfig !== undefined && { retryConfig: JSON.stringify(retryConfig) }),
    ...(maxConcurrency !== undefined && { maxConcurrency: maxConcurrency ?? limits.concurrency }),
    ...(ratePerSecond != null && { ratePerSecond }),
    // Activating it means that the destination is expected to work again.
    ...(isActivated && { breaker: 'closed' as const, breakerTrips: 0 }),
    updatedAt: isoTime(nowMs),
  };
  return { set, remove };
}

async function findConnection(store: Store, connectionId: string): Promise<Connection | undefined> {
  const pointer = await store.get(connectionPointer, { connectionId }, { consistent: true });
  if (!pointer) return undefined;
  const { sourceId } = pointer;
  const found = await store.get(connection, { sourceId, connectionId }, { consistent: true });
  return found?.status === 'deleted' ? undefined : found;
}
