import type { PageRequest } from '@stak/http';
import { failedCondition, type ItemOf, isRefused, type KeyOf, write } from '@stak/table';
import { type EnteredTenant, readOpenTenant, suspended } from '../access/gate.ts';
import { type Service, timestampOf } from '../deps.ts';
import { noTenant, tenantErrors } from '../errors.ts';
import { newChannel } from '../schema.ts';
import {
  channelClaim,
  channelMapping,
  channelsOfTenant,
  notDeleted,
  tenant,
  tenantOfChannel,
} from '../tables.ts';

export type ChannelItem = ItemOf<typeof channelMapping>;
export type Channel = KeyOf<typeof channelClaim>;

// The claim assigns a channel to one tenant; of two concurrent claims, one is refused. Claiming a channel again changes
// nothing.
export async function claimChannel(
  { store, clock }: Service,
  tenant_id: string,
  { type, channel_id }: Channel,
): Promise<{ channel: ChannelItem; isNew: boolean }> {
  const channel = { tenant_id, type, channel_id, created_at: timestampOf(clock.now()) };
  try {
    await store.transact(
      {
        'the tenant is there': write.check(tenant, { tenant_id }, { present: true, if: notDeleted }),
        'claim it': write.put(channelClaim, { type, channel_id, tenant_id }, { ifAbsent: true }),
        'map it': write.put(channelMapping, channel),
      },
      { pattern: 'claim a channel' },
    );
    return { channel, isNew: true };
  } catch (error) {
    const refused = failedCondition(error);
    if (!refused) throw error;
    if (refused.step === 'the tenant is there') throw noTenant();
    const holder = (refused.current as ItemOf<typeof channelClaim> | undefined)?.tenant_id;
    const key = { tenant_id, type, channel_id };
    const own = holder === tenant_id && (await store.get(channelMapping, key, { consistent: true }));
    if (own) return { channel: own, isNew: false };
    throw tenantErrors.create('tenants.channel_taken', 'This channel already belongs to a tenant.');
  }
}

export async function releaseChannel(
  { store }: Pick<Service, 'store'>,
  tenant_id: string,
  { type, channel_id }: Channel,
): Promise<void> {
  try {
    await store.transact(
      {
        'the mapping': write.delete(channelMapping, { tenant_id, type, channel_id }, { ifPresent: true }),
        'the claim': write.delete(channelClaim, { type, channel_id }, { if: { tenant_id } }),
      },
      { pattern: 'release a channel' },
    );
  } catch (error) {
    throw isRefused(error) ? noChannel() : error;
  }
}

export const listChannels = (
  { store }: Service,
  tenant_id: string,
  page: PageRequest,
): Promise<{ items: ChannelItem[]; cursor?: string }> => store.query(channelsOfTenant, { tenant_id }, page);

const noChannel = () => tenantErrors.create('tenants.channel_not_found', 'No tenant has this channel.');

export type ResolveChannel = (type: string, channelId: string) => Promise<EnteredTenant>;

// The entry for messages from a channel. Requires a current claim of an active tenant.
export async function resolveChannel(
  deps: Pick<Service, 'store' | 'readTenant'>,
  type: string,
  channel_id: string,
): Promise<EnteredTenant> {
  const key = { type, channel_id };
  if (!newChannel.safeParse(key).success) throw noChannel();
  const claim = await deps.store.get(channelClaim, key, { consistent: true, pattern: 'resolve a channel' });
  const found = claim && (await readOpenTenant(deps, claim.tenant_id));
  if (!found) throw noChannel();
  if (found.status === 'suspended') throw suspended();
  if (found.status === 'onboarding')
    throw tenantErrors.create('tenants.onboarding', 'The tenant is not active yet.');
  return found;
}

// Reads the index, as documented: it may be out of date, and is for reports only. Nothing is authorised by it.
export async function findChannelMappings(
  { store }: Pick<Service, 'store'>,
  channel: Channel,
): Promise<ChannelItem[]> {
  return (await store.query(tenantOfChannel, channel)).items;
}
