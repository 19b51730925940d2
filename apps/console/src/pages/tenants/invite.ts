import { type ApiTypes, StakError } from '@stak/client';
import { client } from '../../queries/api.ts';
import type { NewInvitation } from '../../queries/tenants.ts';

type Draft = ApiTypes['tenants.createInvitation']['args']['body'];
export type MadeInvitation = NewInvitation & { isMailed: boolean; hasPortal: boolean };

const refusedAs = (code: string) => (error: unknown) => {
  if (error instanceof StakError && error.code === code) return undefined;
  throw error;
};

/**
 * Invites a person by mail if the portal has a way in and the server sends mail. Otherwise there is a link to pass on.
 */
export async function invite(tenant_id: string, draft: Draft): Promise<MadeInvitation> {
  const create = (mail: boolean) => client.tenants.createInvitation({ tenant_id, body: { ...draft, mail } });
  const portal = await client.tenants.getPortal({ tenant_id }).catch(refusedAs('tenants.not_found'));
  const hasPortal = portal !== undefined;
  const mailed = hasPortal ? await create(true).catch(refusedAs('tenants.no_mail')) : undefined;
  const { data } = mailed ?? (await create(false));
  return { ...data, isMailed: mailed !== undefined, hasPortal };
}
