import { isRefused, write } from '@stak/table';
import { tenantErrors } from '@stak/tenants';
import type { z } from 'zod';
import { type Service, timestampOf } from '../deps.ts';
import { agentErrors } from '../errors.ts';
import type { ChannelType, ProviderDeps } from './channel.ts';
import { channelSecrets, tenantChannel } from './tables.ts';

export type ChannelAddress = { type: ChannelType; channel_id: string };

export const noChannel = () => agentErrors.create('agents.channel_not_found', 'Channel not found.');
const sealLocation = ({ type, channel_id }: ChannelAddress) =>
  `conversations CHANNEL#${type}#${channel_id} SECRETS`;

// Only for a channel that the tenant has claimed. A later owner starts without secrets.
export async function putSecrets(
  service: ProviderDeps & Pick<Service, 'store' | 'sealer' | 'channels' | 'resolveChannel'>,
  tenant_id: string,
  address: ChannelAddress,
  credentials: unknown,
): Promise<{ updated_at: string }> {
  const { store, sealer, clock, channels } = service;
  const { type, channel_id } = address;
  const resolved = await service.resolveChannel(type, channel_id).catch(error => {
    throw tenantErrors.includes(error) && error.code === 'tenants.channel_not_found' ? noChannel() : error;
  });
  if (resolved.tenant_id !== tenant_id) throw noChannel();
  const checked = checkCredentials(channels[type].credentials, credentials);
  await assertOwner(service, address, checked);
  const updated_at = timestampOf(clock.now());
  const sealed = sealer.seal(JSON.stringify(checked), sealLocation(address));
  await store.transact(
    {
      'the secrets': write.put(channelSecrets, { type, channel_id, tenant_id, sealed, updated_at }),
      'the list': write.put(tenantChannel, { tenant_id, type, channel_id, updated_at }),
    },
    { pattern: 'write channel secrets' },
  );
  return { updated_at };
}

async function assertOwner(
  service: ProviderDeps & Pick<Service, 'channels'>,
  { type, channel_id }: ChannelAddress,
  secrets: Record<string, string>,
): Promise<void> {
  const outcome = await service.channels[type].checkOwner?.(service, channel_id, secrets);
  if (!outcome || outcome.ok) return;
  throw agentErrors.create(
    'agents.credentials_refused',
    outcome.retryMs === undefined
      ? `${type} does not take these credentials for ${channel_id}: ${outcome.reason}.`
      : `${type} could not be asked whether these are the credentials of ${channel_id}: ${outcome.reason}. Try again.`,
  );
}

function checkCredentials(schema: z.ZodObject, credentials: unknown): Record<string, string> {
  const parsed = schema.safeParse(credentials);
  if (parsed.success) return parsed.data as Record<string, string>; // secrets are texts
  const fields = parsed.error.issues.map(
    ({ path, message }) => `${path.join('.') || 'credentials'}: ${message}`,
  );
  throw agentErrors.create('agents.credentials_refused', fields.slice(0, 5).join('; '));
}

export type OpenedSecrets = { tenant_id: string; secrets: Record<string, string> };

// Undefined for a channel without secrets: nothing it sends can be verified.
export async function openSecrets(
  service: Pick<Service, 'store' | 'sealer'>,
  address: ChannelAddress,
): Promise<OpenedSecrets | undefined> {
  const { type, channel_id } = address;
  const item = await service.store.get(channelSecrets, { type, channel_id }, { consistent: true });
  if (!item) return undefined;
  const text = service.sealer.openText(item.sealed, sealLocation(address));
  return { tenant_id: item.tenant_id, secrets: JSON.parse(text) as Record<string, string> };
}

export async function deleteSecrets(
  { store }: Pick<Service, 'store'>,
  tenant_id: string,
  address: ChannelAddress,
): Promise<void> {
  const { type, channel_id } = address;
  try {
    await store.transact(
      {
        'the list': write.delete(tenantChannel, { tenant_id, type, channel_id }, { ifPresent: true }),
        'the secrets': write.delete(channelSecrets, { type, channel_id }, { if: { tenant_id } }),
      },
      { pattern: 'delete channel secrets' },
    );
  } catch (error) {
    throw isRefused(error) ? noChannel() : error;
  }
}
