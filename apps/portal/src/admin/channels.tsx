import { ConfirmButton, Failure, Field, Loaded, onSubmit, useAction } from '@stak/portal-react/parts';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { channelsKey } from '../queries.ts';
import { client, tenantId } from '../session.ts';

const tenant_id = tenantId;
type Type = 'slack' | 'teams' | 'telegram' | 'whatsapp';

// The words of each provider for the id of a channel and its secrets.
const kinds: Readonly<Record<Type, { name: string; id: string; secrets: Readonly<Record<string, string>> }>> =
  {
    slack: {
      name: 'Slack',
      id: 'Team ID',
      secrets: { signing_secret: 'Signing secret', bot_token: 'Bot token' },
    },
    teams: { name: 'Teams', id: 'App ID of the bot', secrets: { app_password: 'App password' } },
    telegram: {
      name: 'Telegram',
      id: 'ID of the bot',
      secrets: { secret_token: 'Secret token', bot_token: 'Bot token' },
    },
    whatsapp: {
      name: 'WhatsApp',
      id: 'Phone number ID',
      secrets: { app_secret: 'App secret', verify_token: 'Verify token', access_token: 'Access token' },
    },
  };
const types = Object.keys(kinds) as Type[];
const isType = (text: string): text is Type => text in kinds;
const addressOf = (type: string, channel_id: string): string =>
  `${window.location.origin}/v1/channels/${type}/${encodeURIComponent(channel_id)}/webhook`;

export function Channels() {
  const [type, setType] = useState<Type>('slack');
  const [channel_id, setId] = useState('');
  const channels = useQuery({
    queryKey: channelsKey,
    queryFn: async () => {
      const [claimed, known] = await Promise.all([
        client.tenants.listChannels({ tenant_id, limit: 100 }),
        client.agents.listChannelCredentials({ tenant_id, limit: 100 }),
      ]);
      const ready = new Set(known.data.data.map(one => `${one.type} ${one.channel_id}`));
      return claimed.data.data.map(one => ({ ...one, isReady: ready.has(`${one.type} ${one.channel_id}`) }));
    },
  });
  const claim = useAction(async () => {
    await client.tenants.claimChannel({ tenant_id, body: { type, channel_id } });
    setId('');
  }, channelsKey);
  return (
    <section>
      <h1>Channels</h1>
      <form onSubmit={onSubmit(() => claim.mutate(undefined))}>
        <Field label="Provider">
          {id => (
            <select id={id} value={type} onChange={event => setType(event.target.value as Type)}>
              {types.map(type => (
                <option key={type} value={type}>
                  {kinds[type].name}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label={kinds[type].id}>
          {id => <input id={id} required value={channel_id} onChange={event => setId(event.target.value)} />}
        </Field>
        <button type="submit" className="stak-portal-main" disabled={claim.isPending}>
          Connect
        </button>
      </form>
      <Failure error={claim.error} />
      <Loaded query={channels}>
        {all => (
          <ul className="stak-portal-plain">
            {all.map(one => (
              <Channel key={`${one.type} ${one.channel_id}`} channel={one} />
            ))}
          </ul>
        )}
      </Loaded>
    </section>
  );
}

function Channel({ channel }: { channel: { type: string; channel_id: string; isReady: boolean } }) {
  const { type, channel_id, isReady } = channel;
  const [secrets, setSecrets] = useState<Record<string, string>>({});
  const put = useAction(async () => {
    if (isType(type))
      await client.agents.putChannelCredentials({ tenant_id, type, channel_id, body: secrets });
    setSecrets({});
  }, channelsKey);
  const release = useAction(async () => {
    if (isReady && isType(type))
      await client.agents.deleteChannelCredentials({ tenant_id, type, channel_id });
    await client.tenants.releaseChannel({ tenant_id, type, channel_id });
  }, channelsKey);
  return (
    <li className="stak-portal-card">
      <strong>{`${isType(type) ? kinds[type].name : type} ${channel_id}`}</strong>
      <p className="stak-portal-dim">{isReady ? 'Ready.' : 'It needs its secrets.'}</p>
      <p className="stak-portal-dim">{`Deliver its events to ${addressOf(type, channel_id)}`}</p>
      {isType(type) && (
        <form onSubmit={onSubmit(() => put.mutate(undefined))}>
          {Object.entries(kinds[type].secrets).map(([name, label]) => (
            <Field key={name} label={label}>
              {id => (
                <input
                  id={id}
                  type="password"
                  autoComplete="off"
                  required
                  value={secrets[name] ?? ''}
                  onChange={event => setSecrets({ ...secrets, [name]: event.target.value })}
                />
              )}
            </Field>
          ))}
          <button type="submit" disabled={put.isPending}>
            Save the secrets
          </button>
        </form>
      )}
      <Failure error={put.error ?? release.error} />
      <ConfirmButton label={`Disconnect ${channel_id}`} onConfirm={() => release.mutate(undefined)} />
    </li>
  );
}
