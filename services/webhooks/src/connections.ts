import { versionMismatch } from '@stak/http';
import { type Change, failedStep, is, type WriteStep, write } from '@stak/table';
import { catchUpSteps } from './catch-up.ts';
import { type Config, findConnection } from './config.ts';
import { type Base, inSeconds, isoTime } from './deps.ts';
import { notFound, webhookErrors } from './errors.ts';
import { armLane } from './lane-arming.ts';
import * as limits from './limits.ts';
import { type Connection, connection, connectionPointer, source } from './main-table.ts';
import { type ConnectionChange, type NewConnection, newConnectionSchema } from './schema.ts';
import { connectionPlace, type Secrets } from './secrets.ts';
import { createSigningSecret } from './signatures/signing.ts';

type Guarded = { ifVersion?: number };

export type Connections = {
  // The secret is in the answer, and nowhere else from then on.
  create(
    input: NewConnection & { sourceId: string; userId: string },
  ): Promise<{ connection: Connection; signingSecret: string }>;
  getById(connectionId: string): Promise<Connection | null>;
  listBySource(sourceId: string): Promise<Connection[]>;
  update(connectionId: string, updates: ConnectionChange, options?: Guarded): Promise<Connection>;
  rotateSecret(connectionId: string): Promise<{ connection: Connection; signingSecret: string }>;
  delete(connectionId: string, options?: Guarded): Promise<void>;
  owned(connectionId: string, userId: string): Promise<Connection>;
};

type ConnectionEdit = Change<Connection, { sourceId: string; connectionId: string }>;

export function createConnections(
  deps: Base & {
    secrets: Secrets;
    config: Config;
    // Throws for an address that can be told to be no good without trying.
    refuseUrl(url: string): void;
  },
): Connections {
  const { store, clock, ids, secrets, config } = deps;

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
      config.forget(sourceId);
    }
  };

  return {
    async owned(connectionId, userId) {
      const found = await find(connectionId);
      if (found.userId !== userId) throw notFound('connection');
      return found;
    },

    async create({ sourceId, userId, ...input }) {
      const { filters, transform, retryConfig, ...given } = newConnectionSchema.parse(input);
      deps.refuseUrl(given.destinationUrl);
      if ((await this.listBySource(sourceId)).length >= limits.connectionsPerSource)
        throw webhookErrors.create('webhooks.too_many_connections', 'There are too many connections.', {
          most: limits.connectionsPerSource,
        });
      const connectionId = ids.next('conn');
      const signingSecret = createSigningSecret();
      const now = isoTime(clock.now());
      const made = {
        ...given,
        sourceId,
        connectionId,
        userId,
        signingSecret: secrets.seal(signingSecret, connectionPlace(connectionId)),
        filters: JSON.stringify(filters ?? []),
        transform: JSON.stringify(transform ?? { type: 'passthrough' }),
        retryConfig: JSON.stringify(retryConfig ?? {}),
        maxConcurrency: given.maxConcurrency ?? limits.concurrency,
        ordered: given.ordered ?? false,
        status: 'active' as const,
        breaker: 'closed' as const,
        breakerTrips: 0,
        createdAt: now,
        updatedAt: now,
        version: 1,
      };
      try {
        await store.transact(
          {
            source: write.check(
              source,
              { userId, sourceId },
              { present: true, if: { status: is.not('deleted') } },
            ),
            connection: write.put(connection, made, { ifAbsent: true }),
            pointer: write.put(connectionPointer, { connectionId, sourceId, userId }),
            ...catchUpSteps(deps, made),
          },
          { pattern: 'create connection' },
        );
      } catch (error) {
        throw failedStep(error)?.step === 'source' ? notFound('source') : error;
      } finally {
        config.forget(sourceId);
      }
      return { connection: made, signingSecret };
    },

    getById: async connectionId => (await findConnection(store, connectionId)) ?? null,

    async listBySource(sourceId) {
      const known = await config.fresh(sourceId);
      return [...(known?.connections ?? [])];
    },

    async update(connectionId, updates, { ifVersion } = {}) {
      const found = await find(connectionId);
      const { filters, transform, retryConfig, ratePerSecond, ...plain } = updates;
      if (plain.destinationUrl !== undefined) deps.refuseUrl(plain.destinationUrl);
      const isActivated = updates.status === 'active' && found.status !== 'active';
      const set: ConnectionEdit['set'] = {
        ...plain,
        ...(filters !== undefined && { filters: JSON.stringify(filters) }),
        ...(transform !== undefined && { transform: JSON.stringify(transform) }),
        ...(retryConfig !== undefined && { retryConfig: JSON.stringify(retryConfig) }),
        ...(ratePerSecond != null && { ratePerSecond }),
        // Whoever activates it says that the destination is well again.
        ...(isActivated && { breaker: 'closed' as const, breakerTrips: 0 }),
        updatedAt: isoTime(clock.now()),
      };
      const remove: ('ratePerSecond' | 'disabledReason')[] = [];
      if (ratePerSecond === null) remove.push('ratePerSecond');
      if (isActivated) remove.push('disabledReason');
      const isRuled = filters !== undefined || transform !== undefined;
      const more: Record<string, WriteStep> = {
        ...(isActivated && { lane: armLane(found, clock.now()) }),
        ...(isRuled && catchUpSteps(deps, found)),
      };
      await edit(found, { set, remove }, { ifVersion, more });
      return find(connectionId);
    },

    async rotateSecret(connectionId) {
      const found = await find(connectionId);
      const signingSecret = createSigningSecret();
      const sealed = secrets.rotate(found.signingSecret, signingSecret, connectionPlace(connectionId));
      const set = { signingSecret: sealed, updatedAt: isoTime(clock.now()) };
      await edit(found, { set }, { ifVersion: found.version });
      return { connection: await find(connectionId), signingSecret };
    },

    async delete(connectionId, { ifVersion } = {}) {
      const found = await find(connectionId);
      const nowMs = clock.now();
      const set = {
        status: 'deleted' as const,
        updatedAt: isoTime(nowMs),
        expiresAt: inSeconds(nowMs) + limits.retiredS,
      };
      // What waits in its backlog is released, and then found to have no connection any more.
      const more = {
        pointer: write.delete(connectionPointer, { connectionId }),
        lane: armLane(found, nowMs),
      };
      await edit(found, { set }, { ifVersion, more });
    },
  };
}
