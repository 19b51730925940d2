import type { AnyEndpoint } from '@stak/http';
import type { Logger } from '@stak/kit';
import { type Audit, auditChanges } from '@stak/tenants';

// What a host sends all day is not management, and the inbox keeps each message with its sender.
export const traffic: ReadonlySet<string> = new Set(['inbox.publish', 'inbox.broadcast', 'inbox.bulk']);

// A service whose changes by an account stand in the account's audit trail.
export const withTrail = <S extends { api: readonly AnyEndpoint[] }>(
  deps: { audit: Audit; log: Logger; payerOf(tenantId: string): Promise<string | undefined> },
  service: S,
) => ({
  ...service,
  api: service.api.flatMap(one =>
    traffic.has(one.route.operationId ?? '') ? [one] : auditChanges(deps, [one]),
  ),
});
