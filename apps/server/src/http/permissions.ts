import { type AnyEndpoint, endpoint, isPermitted, json, readsOnly, route } from '@stak/http';
import { z } from 'zod';

const permissions = route({
  ...readsOnly,
  path: '/v1/permissions',
  operationId: 'system.permissions',
  tenant: 'none',
  mcp: false,
  tags: ['system'],
  auth: 'session',
  scope: 'read',
  summary: 'List the operations that you can call',
  description:
    'Depends on your role in the organisation. A user interface can use it to hide what would be refused; the server checks every request in any case.',
  responses: {
    200: json(
      z.strictObject({
        operations: z
          .array(z.string())
          .describe('The ids of the operations in this document that your role allows, sorted.'),
      }),
    ),
  },
});

// Uses the rules that refuse requests: there is no second table of rights.
export const permissionsEndpoint = (endpoints: () => readonly AnyEndpoint[]) =>
  endpoint(permissions, c => {
    const principal = c.get('principal');
    const operations = endpoints()
      .filter(endpoint => isPermitted(principal, endpoint.route))
      .flatMap(endpoint => endpoint.route.operationId ?? [])
      .toSorted();
    return c.json({ operations }, 200);
  });
