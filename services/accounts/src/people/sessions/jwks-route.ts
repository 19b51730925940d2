import { endpoint, json, readsOnly, route } from '@stak/http';
import { z } from 'zod';
import * as limits from '../../limits.ts';
import type { SigningKeys } from './signing-keys.ts';

const jwks = route({
  tenant: 'none',
  mcp: false,
  tags: ['accounts'],
  ...readsOnly,
  path: '/.well-known/jwks.json',
  operationId: 'accounts.jwks',
  auth: 'public',
  summary: 'Get the public keys that verify tokens',
  description: 'Returns the public keys as a JSON Web Key Set, to verify tokens of end users.',
  responses: { 200: json(z.strictObject({ keys: z.array(z.record(z.string(), z.unknown())) })) },
});

export const createJwksRoute = (keys: SigningKeys) =>
  endpoint(jwks, async c => {
    // Caching this long is safe: each key is published long before it signs its first token.
    c.header('Cache-Control', `public, max-age=${limits.signingMarginS / 2}`);
    return c.json(await keys.jwks(), 200);
  });
