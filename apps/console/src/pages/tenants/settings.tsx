import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { fieldComplaints } from '../../components/feedback/complaint.ts';
import { Loaded } from '../../components/feedback/loaded.tsx';
import { SaveFailure } from '../../components/feedback/save-failure.tsx';
import { useSubmit } from '../../queries/actions.ts';
import { client } from '../../queries/api.ts';
import { settingsKey, useSettings } from '../../queries/tenants.ts';
import { patchOf, type Settings, type SettingsDraft } from './settings-draft.ts';
import { SettingsForm } from './settings-form.tsx';

type Read = { settings: Settings; etag: string };

export function SettingsTab({ tenant_id }: { tenant_id: string }) {
  const settings = useSettings(tenant_id);
  // A new form only when the user asks for the saved version, so that typed values are never lost.
  const [round, setRound] = useState(0);
  const readAgain = async () => {
    await settings.refetch();
    setRound(old => old + 1);
  };
  return (
    <Loaded query={settings}>
      {read => (
        <Versioned
          key={round}
          tenant_id={tenant_id}
          read={read}
          onSaved={() => setRound(old => old + 1)}
          onReadAgain={readAgain}
        />
      )}
    </Loaded>
  );
}

type Props = {
  tenant_id: string;
  read: Read;
  onSaved: () => void;
  onReadAgain: () => void;
};

function Versioned({ tenant_id, read, onSaved, onReadAgain }: Props) {
  const queries = useQueryClient();
  // The version the user was editing, even if a newer one has been read since.
  const [{ settings, etag }] = useState(read);
  const save = useSubmit(
    (draft: SettingsDraft) =>
      client.tenants.updateSettings({ tenant_id, body: patchOf(draft) }, { ifMatch: etag }),
    {
      done: 'Saved.',
      onSuccess: ({ data, etag: saved = '*' }) => {
        queries.setQueryData(settingsKey(tenant_id), { settings: data, etag: saved });
        onSaved();
      },
    },
  );
  return (
    <SettingsForm
      settings={settings}
      isBusy={save.isPending}
      complaints={fieldComplaints(save.error)}
      onSave={save.mutate}
    >
      {save.error && <SaveFailure error={save.error} onReadAgain={onReadAgain} />}
    </SettingsForm>
  );
}
