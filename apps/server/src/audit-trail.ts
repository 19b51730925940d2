import type { AnyEndpoint } from '@stak/http';
import type { Logger } from '@stak/kit';
import { type Audit, auditChanges } from '@stak/tenants';

// Wraps a service so that what its routes declare is in the account's audit trail.
export const withTrail = <S extends { api: readonly AnyEndpoint[] }>(
  deps: { audit: Audit; log: Logger; payerOf(tenantId: string): Promise<string | undefined> },
  service: S,
) => ({ ...service, api: auditChanges(deps, service.api) });
