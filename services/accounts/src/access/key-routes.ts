import { empty, endpoint, json, readsOnly, route } from '@stak/http';
import { z } from 'zod';
import { type Audit, doneBy } from '../audit.ts';
import type { ApiKey } from '../main-table.ts';
import { originOf } from '../origin.ts';
import { apiKeySchema, nameSchema, permissionSchema } from '../schema.ts';
import type { ApiKeys } from './api-keys.ts';
import { keyLimitsShape } from './key-limits.ts';

const tags = ['accounts'];
const common = { tenant: 'none', mcp: false, tags } as const;

const routes = {
  // Takes no Idempotency-Key: that would store the response, and with it the key, which is shown once and never stored.
  createKey: route({
    ...common,
    method: 'post',
    path: '/v1/api-keys',
    operationId: 'accounts.createKey',
    reaches: 'nothing',
    audit: 'own',
    stores: 'body',
    auth: 'session',
    scope: 'admin',
    summary: 'Create an API key',
    description: 'The key is shown only in this response. If you lose it, delete it and create another.',
    request: {
      body: json(z.strictObject({ name: nameSchema, permissions: permissionSchema, ...keyLimitsShape })),
    },
    responses: { 201: json(apiKeySchema.extend({ key: z.string() })) },
    problems: [
      'accounts.too_many_keys',
      'accounts.key_expiry_past',
      'accounts.step_up_needed',
      'accounts.being_deleted',
    ],
  }),
  listKeys: route({
    ...common,
    ...readsOnly,
    path: '/v1/api-keys',
    operationId: 'accounts.listKeys',
    auth: 'account',
    scope: 'read',
    summary: 'List your API keys',
    description: 'Returns the API keys of the account. The keys themselves are never shown again.',
    responses: { 200: json(z.strictObject({ data: z.array(apiKeySchema), next_cursor: z.null() })) },
  }),
  deleteKey: route({
    ...common,
    method: 'delete',
    path: '/v1/api-keys/{keyId}',
    operationId: 'accounts.deleteKey',
    reaches: 'nothing',
    audit: 'own',
    stores: 'deletes',
    auth: 'session',
    scope: 'admin',
    summary: 'Revoke an API key',
    description: 'Revokes a key. Requests with it are refused at once.',
    request: { params: z.strictObject({ keyId: z.string().regex(/^key_[A-Za-z0-9_-]{1,40}$/) }) },
    responses: { 204: empty() },
    problems: ['accounts.key_not_found'],
  }),
};

export function createKeyRoutes({
  apiKeys,
  audit,
  requireFresh,
}: {
  // Requires a recent second factor of accounts that have one.
  requireFresh(signed: { userId: string; sessionId: string }): Promise<void>;
  apiKeys: ApiKeys;
  audit: Audit;
}) {
  return [
    endpoint(routes.createKey, async c => {
      const { accountId, userId, credentialId: sessionId } = c.get('principal');
      const input = { ...c.req.valid('json'), madeBy: userId };
      if (input.permissions === 'admin') await requireFresh({ userId, sessionId });
      const by = doneBy(c.get('principal'), originOf(c));
      const entry = { ...by, detail: `${input.name} (${input.permissions})` };
      const { key, apiKey } = await apiKeys.create(accountId, input, keyId => ({
        audit: audit.step(accountId, { ...entry, action: 'key.created', target: keyId }),
      }));
      return c.json({ ...show(apiKey), key }, 201);
    }),
    endpoint(routes.listKeys, async c => {
      const keys = await apiKeys.listByUser(c.get('principal').accountId);
      return c.json({ data: keys.map(show), next_cursor: null }, 200);
    }),
    endpoint(routes.deleteKey, async c => {
      const { accountId } = c.get('principal');
      const { keyId } = c.req.valid('param');
      const entry = { action: 'key.deleted', target: keyId, ...doneBy(c.get('principal'), originOf(c)) };
      await apiKeys.delete(keyId, accountId, { audit: audit.step(accountId, entry) });
      return c.body(null, 204);
    }),
  ] as const;
}

const show = ({
  keyId,
  userId,
  madeBy,
  name,
  keyPrefix,
  permissions,
  lastUsedAt,
  createdAt,
  ...limited
}: ApiKey) => ({
  keyId,
  name,
  keyPrefix,
  permissions,
  madeBy: madeBy ?? userId,
  expiresAt: limited.endsAtMs === undefined ? undefined : new Date(limited.endsAtMs).toISOString(),
  tenants: limited.tenants,
  addresses: limited.addresses,
  lastUsedAt,
  createdAt,
});
