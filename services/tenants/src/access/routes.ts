import { endpoint, json, route } from '@stak/http';
import { z } from 'zod';
import type { Service } from '../deps.ts';
import { newToken, tenantId, tokenShape, userId } from '../schema.ts';
import { mintToken, revokeTokens } from './tokens.ts';

const account = { auth: 'account', tags: ['tenants'] as string[], mcp: false } as const;
const params = z.strictObject({ tenant_id: tenantId });
const onePath = '/v1/tenants/{tenant_id}';

const routes = {
  mintToken: route({
    ...account,
    method: 'post',
    path: `${onePath}/tokens`,
    operationId: 'tenants.mintToken',
    reaches: 'nothing',
    audit: true,
    stores: 'line',
    tenant: 'path',
    scope: 'write',
    summary: 'Mint a token for an end user',
    description:
      'For any of your uids, whether or not it is a user of the tenant. Request only the scopes that the page or app needs. Without a scope, the token can read and mark the inbox, and nothing else.',
    request: { params, body: json(newToken) },
    responses: { 201: json(tokenShape, 'The token. It is not shown again') },
    problems: ['tenants.just_revoked'],
  }),
  revokeTokens: route({
    ...account,
    method: 'post',
    path: `${onePath}/tokens/revoke`,
    operationId: 'tenants.revokeTokens',
    reaches: 'nothing',
    audit: true,
    stores: 'line',
    tenant: 'path-suspended-too',
    scope: 'write',
    summary: 'Revoke the tokens of a user, or of all users',
    description: 'Revokes all tokens issued until now. Takes effect within seconds.',
    request: {
      params,
      body: json(
        z.strictObject({ sub: userId.optional().describe('The id of the user that the token is for.') }),
      ),
    },
    responses: {
      200: json(
        z.strictObject({
          revoked_until: z.iso.datetime().describe('Tokens minted before this moment no longer work.'),
        }),
      ),
    },
  }),
};

export const createTokenRoutes = (deps: Service) =>
  [
    endpoint(routes.mintToken, async c => {
      const { tenant_id } = c.req.valid('param');
      return c.json(await mintToken(deps, tenant_id, c.req.valid('json')), 201);
    }),
    endpoint(routes.revokeTokens, async c => {
      const { tenant_id } = c.req.valid('param');
      return c.json(await revokeTokens(deps, tenant_id, c.req.valid('json').sub), 200);
    }),
  ] as const;
