import { type AnyEntity, type KeyOf, ownedByKey } from '@stak/table';
import * as sends from './send-table.ts';
import * as table from './table.ts';

// Whose storage each item of the inbox takes: the tenant stands in every key.
const ofTenant = <E extends AnyEntity>(
  entity: E & (KeyOf<E> extends { tenant_key: string } ? unknown : never),
) =>
  ownedByKey(
    entity as AnyEntity,
    key => ({ kind: 'tenant', id: (key as { tenant_key: string }).tenant_key }) as const,
  );

export const inboxOwners = [
  ofTenant(table.tenantSettings),
  ofTenant(table.inboxConfig),
  ofTenant(table.inboxCategories),
  ofTenant(table.userMessage),
  ofTenant(table.receipt),
  ofTenant(table.userStats),
  ofTenant(table.categoryStats),
  ofTenant(table.expiry),
  ofTenant(table.publicMessage),
  ofTenant(table.publicStats),
  ofTenant(table.publicCategoryStats),
  ofTenant(table.broadcast),
  ofTenant(sends.send),
  ofTenant(sends.audiencePart),
  ofTenant(sends.messageBody),
  ofTenant(sends.hostId),
  ofTenant(sends.sharedHostId),
  ofTenant(sends.requestKey),
  ofTenant(sends.member),
  ofTenant(sends.memberTotal),
  ofTenant(sends.inboxErasure),
  ofTenant(sends.categoryErasure),
];
