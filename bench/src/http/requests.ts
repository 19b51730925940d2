import type { Customer } from '../server/customer.ts';
import type { Operation, Request } from '../server/load.ts';

// Every request of this bench is a GET that returns a small JSON object.

export const requestNames = [
  'bare',
  'constant',
  'public',
  'key, whoami',
  'key, me',
  'key, tenant',
  'key, user',
  'session, whoami',
  'session, me',
  'session, tenant',
  'end user, whoami',
  'end user, itself',
] as const;
export type RequestName = (typeof requestNames)[number];

export const requestTitles: Record<RequestName, string> = {
  bare: 'a constant, by Hono alone',
  constant: 'a constant, by the server: GET /healthz',
  public: 'no token: GET /v1/plans',
  'key, whoami': 'API key: GET /v1/whoami',
  'key, me': 'API key: GET /v1/me',
  'key, tenant': 'API key: GET /v1/tenants/{id}',
  'key, user': 'API key: GET /v1/tenants/{id}/users/{id}',
  'session, whoami': 'session: GET /v1/whoami',
  'session, me': 'session: GET /v1/me',
  'session, tenant': 'session: GET /v1/tenants/{id}',
  'end user, whoami': 'end user: GET /v1/whoami',
  'end user, itself': 'end user: GET /v1/tenants/{id}/users/{id}',
};

export function operationsFor(customer: Customer): Record<RequestName, Operation> {
  const { tenantId, apiKeys, sessions, endUsers } = customer;
  const tenantPath = `/v1/tenants/${tenantId}`;
  const userPath = (userId: string) => `${tenantPath}/users/${userId}`;
  return {
    bare: ok([get('/constant')]),
    constant: ok([get('/healthz')]),
    public: ok([get('/v1/plans')]),
    'key, whoami': ok(apiKeys.map(key => get('/v1/whoami', key))),
    'key, me': ok(apiKeys.map(key => get('/v1/me', key))),
    'key, tenant': ok(apiKeys.map(key => get(tenantPath, key))),
    'key, user': ok(endUsers.map(({ userId }, i) => get(userPath(userId), apiKeys[i % apiKeys.length]))),
    'session, whoami': ok(sessions.map(token => get('/v1/whoami', token))),
    'session, me': ok(sessions.map(token => get('/v1/me', token))),
    'session, tenant': ok(sessions.map(token => get(tenantPath, token))),
    'end user, whoami': ok(endUsers.map(({ token }) => get('/v1/whoami', token))),
    'end user, itself': ok(endUsers.map(({ userId, token }) => get(userPath(userId), token))),
  };
}

const ok = (requests: readonly Request[]): Operation => ({ requests, status: 200 });

const get = (path: string, token?: string): Request => ({
  method: 'GET',
  path,
  ...(token !== undefined && { headers: { Authorization: `Bearer ${token}` } }),
});
