import type { AnyEndpoint } from '@stak/http';
import type { Logger } from '@stak/kit';
import { type Audit, auditChanges } from '@stak/tenants';

// Regular traffic of a host is not management, and the inbox stores each message with its sender. Rules are tried as
// somebody types them, and nothing is changed.
export const unaudited: ReadonlySet<string> = new Set([
  'inbox.publish',
  'inbox.broadcast',
  'inbox.bulk',
  'webhooks.tryRules',
]);

// Wraps a service so that an account's changes are in its audit trail.
export const withTrail = <S extends { api: readonly AnyEndpoint[] }>(
  deps: { audit: Audit; log: Logger; payerOf(tenantId: string): Promise<string | undefined> },
  service: S,
) => ({
  ...service,
  api: service.api.flatMap(one =>
    unaudited.has(one.route.operationId ?? '') ? [one] : auditChanges(deps, [one]),
  ),
});
