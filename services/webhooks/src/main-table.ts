import { accountsTable, ferryhookKeys } from '@stak/accounts/tables';
import { defineQuery, entity, extendTable, type ItemOf } from '@stak/table';
import { z } from 'zod';
import { providers } from './signatures/signing.ts';

// The entities that webhooks add to `ferryhook-main`, the table of accounts.

const time = z.string().describe('ISO timestamp');
const expiresAt = z.int().optional().describe('Set when it is deleted');

// The senders: outside providers, or Stak itself.
export const sourceProviders = [...providers, 'stak'] as const;
export const sourceStatuses = ['active', 'paused', 'deleted'] as const;
export const connectionStatuses = ['active', 'paused', 'disabled', 'deleted'] as const;
export const breakerStates = ['closed', 'open', 'half'] as const;

export const source = entity(ferryhookKeys, {
  name: 'source',
  schema: z.object({
    userId: z.string(),
    sourceId: z.string(),
    name: z.string(),
    provider: z.enum(sourceProviders),
    signingSecret: z.string().optional().describe('Sealed JSON: the secret, and the one it replaced'),
    signingAlgorithm: z.string().optional().describe('A name such as hmac-sha256, or JSON with the details'),
    signatures: z.enum(['off', 'reject', 'store']).describe('Handling of an event without a valid signature'),
    toleranceS: z.int().optional().describe('How far the timestamp of a signature may be from our clock'),
    verifyToken: z.string().optional().describe('Sealed; for handshakes with a verify token'),
    dedupeHeader: z.string().optional().describe('Header in which a custom source sends its own id'),
    whilePaused: z.enum(['hold', 'refuse']),
    auditTrail: z.boolean().optional().describe('Of the provider `stak`: whether it gets the audit trail'),
    alertUrl: z.string().optional(),
    alertSecret: z
      .string()
      .optional()
      .describe('Sealed JSON: the secret that signs alerts, and the one it replaced'),
    alertRotationId: z.string().optional().describe('The request that last rotated the secret of alerts'),
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

export const sourcePointer = entity(ferryhookKeys, {
  name: 'source pointer',
  description: 'The owner of a source, beside its connections: found by its id with a consistent read.',
  schema: z.object({ sourceId: z.string(), userId: z.string(), expiresAt }),
  key: { partition: 'SRC#{sourceId}', sort: 'SOURCE' },
});

export const connection = entity(ferryhookKeys, {
  name: 'connection',
  schema: z.object({
    sourceId: z.string(),
    connectionId: z.string(),
    userId: z.string(),
    name: z.string(),
    destinationUrl: z.string(),
    signingSecret: z.string().describe('Sealed JSON: the secret, the one it replaced, and until when'),
    rotationId: z.string().optional().describe('The request that last rotated the secret'),
    filters: z.string().describe('JSON'),
    transform: z.string().describe('JSON'),
    retryConfig: z.string().describe('JSON'),
    maxConcurrency: z.int(),
    ratePerSecond: z.int().optional(),
    ordered: z.boolean().describe('Whether an event waits until the one before it is finished'),
    status: z.enum(connectionStatuses),
    disabledReason: z.string().optional(),
    breaker: z.enum(breakerStates),
    breakerTrips: z.int().describe('How often it opened since it was last closed'),
    breakerAt: time.optional().describe('When its state last changed'),
    createdAt: time,
    updatedAt: time,
    version: z.int(),
    expiresAt,
  }),
  key: { partition: 'SRC#{sourceId}', sort: 'CONN#{connectionId}' },
  version: 'version',
});
export type Connection = ItemOf<typeof connection>;

export const connectionPointer = entity(ferryhookKeys, {
  name: 'connection pointer',
  description: 'The source of a connection, to find it by its id.',
  schema: z.object({ connectionId: z.string(), sourceId: z.string(), userId: z.string() }),
  key: { partition: 'CONN#{connectionId}', sort: 'POINTER' },
});

export const alertKinds = ['delivery_failed', 'breaker_opened', 'connection_disabled'] as const;

export const alert = entity(ferryhookKeys, {
  name: 'alert',
  description:
    'Written in one transaction with its cause. At most one per hour for each connection and kind.',
  schema: z.object({
    userId: z.string(),
    alertKind: z.enum(alertKinds),
    connectionId: z.string(),
    hour: z.string().describe('Like 2026-03-31T14'),
    sourceId: z.string(),
    eventId: z.string().optional(),
    run: z.int().optional().describe('Of the delivery that failed'),
    detail: z.string(),
    raisedAt: time,
    expiresAt: z.int(),
    trace: z.string().optional().describe('The traceparent of what raised it'),
  }),
  key: { partition: 'USER#{userId}', sort: 'ALERT#{hour}#{connectionId}#{alertKind}' },
});
export type Alert = ItemOf<typeof alert>;

export const sourcesOfUser = defineQuery('sources of a user', { of: source, consistent: true });
export const sourceById = defineQuery('source by id', { of: source, index: 'GSI3' });
export const bySource = defineQuery('connections and owner of a source', {
  of: [sourcePointer, connection],
  consistent: true,
});
export const connectionsOfSource = defineQuery('connections of a source', {
  of: connection,
  consistent: true,
});
export const alertsOfUser = defineQuery('alerts of a user', { of: alert, newestFirst: true });

export const ferryhookMain = extendTable(accountsTable, {
  entities: [source, sourcePointer, connection, connectionPointer, alert],
  queries: [sourcesOfUser, sourceById, bySource, connectionsOfSource, alertsOfUser],
});
