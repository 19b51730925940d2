import type { ApiTypes } from '@stak/client';
import { ConfirmButton, Failure, Field, Loaded, onSubmit, useAction } from '@stak/portal-react/parts';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { providerKey } from '../queries.ts';
import { client, tenantId } from '../session.ts';
import { useRounds } from './rounds.ts';

const tenant_id = tenantId;
type ProviderSettings = ApiTypes['tenants.getPortalProvider']['data'];

const readProvider = async (): Promise<ProviderSettings | null> =>
  (await client.tenants.getPortalUser({ tenant_id })).data.portal.provider
    ? (await client.tenants.getPortalProvider({ tenant_id })).data
    : null;

export function Provider() {
  const query = useQuery({ queryKey: providerKey, queryFn: readProvider });
  const { round, notice, showAgain } = useRounds(query);
  return (
    <section aria-labelledby="provider">
      <h2 id="provider">Sign-in with your organisation</h2>
      <Loaded query={query}>
        {known => <Form key={round} known={known} notice={notice} onChanged={showAgain} />}
      </Loaded>
    </section>
  );
}

const texts = [
  ['issuer', 'Issuer', 'https://login.example.com'],
  ['client_id', 'Client ID', ''],
  ['client_secret', 'Client secret', ''],
  ['domains', 'Domains of addresses, separated by commas', 'example.com'],
] as const;

type FormProps = {
  known: ProviderSettings | null;
  notice: string | undefined;
  onChanged: (notice: string) => Promise<void>;
};

function Form({ known, notice, onChanged }: FormProps) {
  const [draft, setDraft] = useState({
    issuer: known?.issuer ?? '',
    client_id: known?.client_id ?? '',
    client_secret: '',
    domains: known?.domains.join(', ') ?? '',
  });
  const [createsUsers, setCreatesUsers] = useState(known?.creates_users ?? false);
  const { client_secret, domains, ...plain } = draft;
  const save = useAction(async () => {
    await client.tenants.putPortalProvider({
      tenant_id,
      body: {
        ...plain,
        ...(client_secret !== '' && { client_secret }),
        domains: domains.split(',').map(one => one.trim()),
        creates_users: createsUsers,
      },
    });
    await onChanged('The provider is saved.');
  });
  const remove = useAction(async () => {
    await client.tenants.deletePortalProvider({ tenant_id });
    await onChanged('The provider is removed.');
  });
  const test = useMutation({
    mutationFn: async () => (await client.tenants.testPortalProvider({ tenant_id })).data,
  });
  return (
    <form className="stak-portal-stack" onSubmit={onSubmit(() => save.mutate(undefined))}>
      {texts.map(([name, label, hint]) => (
        <Field key={name} label={label}>
          {id => (
            <input
              id={id}
              required={name !== 'client_secret' || known === null}
              type={name === 'client_secret' ? 'password' : 'text'}
              autoComplete="off"
              placeholder={name === 'client_secret' && known !== null ? 'As before' : hint}
              value={draft[name]}
              onChange={event => setDraft({ ...draft, [name]: event.target.value })}
            />
          )}
        </Field>
      ))}
      <label>
        <input
          type="checkbox"
          checked={createsUsers}
          onChange={event => setCreatesUsers(event.target.checked)}
        />{' '}
        People who are not users yet become members
      </label>
      {known && (
        <p className="stak-portal-dim">{`Register this redirect address with the provider: ${known.redirect_uri}`}</p>
      )}
      {known?.matches_addresses && (
        <p className="stak-portal-dim">
          Users are matched by e-mail address now. Saving the provider here turns that off.
        </p>
      )}
      <div className="stak-portal-bar">
        <button type="submit" className="stak-portal-main" disabled={save.isPending}>
          Save the provider
        </button>
        {known && (
          <>
            <button type="button" disabled={test.isPending} onClick={() => test.mutate()}>
              Test it
            </button>
            <ConfirmButton label="Remove the provider" onConfirm={() => remove.mutate(undefined)} />
          </>
        )}
      </div>
      {test.data ? (
        <p role="status">{test.data.detail}</p>
      ) : (
        notice !== undefined && <p role="status">{notice}</p>
      )}
      <Failure error={save.error ?? remove.error ?? test.error} />
    </form>
  );
}
