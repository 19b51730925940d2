import { StakError } from '@stak/client';
import { Failure, Field, Loaded, onSubmit, useAction, userKey } from '@stak/portal-react/parts';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { settingsKey } from '../queries.ts';
import { client, tenantId } from '../session.ts';
import { Provider } from './provider.tsx';
import { useRounds } from './rounds.ts';

const tenant_id = tenantId;

type Draft = {
  portal_name: string;
  portal_logo: string;
  portal_color: string;
  portal_header_color: string;
  system_prompt_override: string;
};

export const readSettings = async () => {
  const { data, etag } = await client.tenants.getSettings({ tenant_id });
  return { settings: data, etag: etag! };
};

export function Settings() {
  const query = useQuery({ queryKey: settingsKey, queryFn: readSettings });
  const { round, notice, showAgain } = useRounds(query);
  return (
    <section>
      <h1>Settings</h1>
      <Loaded query={query}>
        {read => <Form key={round} read={read} notice={notice} onShowAgain={showAgain} />}
      </Loaded>
      <Provider />
    </section>
  );
}

const texts: readonly [name: keyof Draft, label: string, hint: string][] = [
  ['portal_name', 'Name', 'The name of the tenant'],
  ['portal_logo', 'Logo', 'https://…'],
  ['portal_color', 'Colour of buttons and links', '#0b7285'],
  ['portal_header_color', 'Colour of the bar at the top', '#ffffff'],
];

type Read = Awaited<ReturnType<typeof readSettings>>;

const draftOf = ({ settings }: Read): Draft => ({
  portal_name: settings.portal_name ?? '',
  portal_logo: settings.portal_logo ?? '',
  portal_color: settings.portal_color ?? '',
  portal_header_color: settings.portal_header_color ?? '',
  system_prompt_override: settings.system_prompt_override,
});

type FormProps = {
  read: Read;
  notice: string | undefined;
  onShowAgain: (notice?: string) => Promise<void>;
};

function Form({ read, notice, onShowAgain }: FormProps) {
  const [{ etag }] = useState(read); // the version that is edited, even if a newer one has been read since
  const [saved] = useState(() => draftOf(read));
  const [draft, setDraft] = useState(saved);
  const save = useAction(async () => {
    await client.tenants.updateSettings({ tenant_id, body: draft }, { ifMatch: etag });
    await onShowAgain('Saved.');
  }, userKey);
  const isOvertaken = save.error instanceof StakError && save.error.code === 'http.version_mismatch';
  const set = (name: keyof Draft, value: string) => setDraft({ ...draft, [name]: value });
  return (
    <form className="stak-portal-stack" onSubmit={onSubmit(() => save.mutate(undefined))}>
      {texts.map(([name, label, hint]) => (
        <Field key={name} label={label}>
          {id => (
            <input
              id={id}
              placeholder={hint}
              value={draft[name]}
              onChange={event => set(name, event.target.value)}
            />
          )}
        </Field>
      ))}
      <Field label="Instructions for the agent">
        {id => (
          <textarea
            id={id}
            rows={6}
            value={draft.system_prompt_override}
            onChange={event => set('system_prompt_override', event.target.value)}
          />
        )}
      </Field>
      <button type="submit" className="stak-portal-main" disabled={save.isPending}>
        Save
      </button>
      {notice !== undefined && draft === saved && <p role="status">{notice}</p>}
      <Failure error={save.error} />
      {isOvertaken && (
        <button type="button" onClick={() => void onShowAgain()}>
          Show what was saved
        </button>
      )}
    </form>
  );
}
