import { ferryhookMain } from '@stak/accounts/tables';
import { defineQuery, entity, type ItemOf } from '@stak/table';
import { z } from 'zod';
import { type Provider, providers } from './signatures/provider.ts';

// What webhooks add to the table of accounts.

const time = z.string().describe('ISO timestamp');
const expiresAt = z.int().optional().describe('Set when it is deleted');

// Who sends: somebody outside, or Stak itself.
export const sourceProviders = [...providers, 'stak'] as const;
export const sourceStatuses = ['active', 'paused', 'deleted'] as const;
export const connectionStatuses = ['active', 'paused', 'disabled', 'deleted'] as const;
export const breakerStates = ['closed', 'open', 'half'] as const;

export const source = entity(ferryhookMain, {
  name: 'source',
  schema: z.object({
    userId: z.string(),
    sourceId: z.string(),
    name: z.string(),
    provider: z.enum(sourceProviders),
    signingSecret: z.string().optional().describe('Sealed JSON: the secret, and the one it replaced'),
    signingAlgorithm: z.string().optional().describe('A name such as hmac-sha256, or JSON with the details'),
    signatures: z.enum(['off', 'reject', 'store']).describe('What becomes of an event without a true one'),
    toleranceS: z.int().optional().describe('How old a signature may be'),
    verifyToken: z.string().optional().describe('Sealed; for handshakes that carry one'),
    dedupeHeader: z.string().optional().describe('Where a custom source sends an id of its own'),
    whilePaused: z.enum(['hold', 'refuse']),
    alertUrl: z.string().optional(),
    alertSecret: z.string().optional().describe('Sealed JSON: signs alerts; and the one it replaced'),
    status: z.enum(sourceStatuses),
    createdAt: time,
    updatedAt: time,
    version: z.int(),
    expiresAt,
  }),
  key: { partition: 'USER#{userId}', sort: 'SRC#{sourceId}' },
  indexes: { GSI3: { partition: 'SRCID#{sourceId}', sort: 'SOURCE' } },
  version: 'version',
});
export type Source = ItemOf<typeof source>;
export type OutsideSource = Source & { provider: Provider };

export const isFromOutside = (one: Source): one is OutsideSource => one.provider !== 'stak';

export const connection = entity(ferryhookMain, {
  name: 'connection',
  schema: z.object({
    sourceId: z.string(),
    connectionId: z.string(),
    userId: z.string(),
    name: z.string(),
    destinationUrl: z.string(),
    signingSecret: z.string().describe('Sealed JSON: the secret, the one it replaced, and until when'),
    filters: z.string().describe('JSON'),
    transform: z.string().describe('JSON'),
    retryConfig: z.string().describe('JSON'),
    maxConcurrency: z.int(),
    ratePerSecond: z.int().optional(),
    ordered: z.boolean().describe('Whether an event waits until the one before it is done'),
    status: z.enum(connectionStatuses),
    disabledReason: z.string().optional(),
    breaker: z.enum(breakerStates),
    breakerTrips: z.int().describe('Openings since it was last closed'),
    breakerAt: time.optional().describe('Since when it is as it is'),
    createdAt: time,
    updatedAt: time,
    version: z.int(),
    expiresAt,
  }),
  key: { partition: 'SRC#{sourceId}', sort: 'CONN#{connectionId}' },
  version: 'version',
});
export type Connection = ItemOf<typeof connection>;

export const connectionPointer = entity(ferryhookMain, {
  name: 'connection pointer',
  description: 'Where a connection is, for those who know its id only.',
  schema: z.object({ connectionId: z.string(), sourceId: z.string(), userId: z.string() }),
  key: { partition: 'CONN#{connectionId}', sort: 'POINTER' },
});

export const alertKinds = ['delivery_failed', 'breaker_opened', 'connection_disabled'] as const;

export const alert = entity(ferryhookMain, {
  name: 'alert',
  description: 'Written together with what it is about. At most one an hour for each connection and kind.',
  schema: z.object({
    userId: z.string(),
    alertKind: z.enum(alertKinds),
    connectionId: z.string(),
    hour: z.string().describe('Like 2026-03-31T14'),
    sourceId: z.string(),
    eventId: z.string().optional(),
    detail: z.string(),
    raisedAt: time,
    expiresAt: z.int(),
  }),
  key: { partition: 'USER#{userId}', sort: 'ALERT#{hour}#{connectionId}#{alertKind}' },
});
export type Alert = ItemOf<typeof alert>;

export const sourcesOfUser = defineQuery('sources of a user', { of: source, consistent: true });
export const sourceById = defineQuery('source by id', { of: source, index: 'GSI3' });
export const connectionsOfSource = defineQuery('connections of a source', {
  of: connection,
  consistent: true,
});
export const alertsOfUser = defineQuery('alerts of a user', { of: alert, newestFirst: true });
