import { useQueryClient } from '@tanstack/react-query';
import { useAction } from '../../queries/actions.ts';
import { client } from '../../queries/api.ts';
import { settingsKey } from '../../queries/tenants.ts';
import { skillsKey } from '../agents/queries.ts';
import type { Settings, SettingsPatch } from './settings-draft.ts';

type Change = (settings: Settings) => SettingsPatch;

// Reads the current settings first, so that nobody else's change is lost.
export async function changeSettings(tenant_id: string, change: Change) {
  const { data, etag = '*' } = await client.tenants.getSettings({ tenant_id });
  return client.tenants.updateSettings({ tenant_id, body: change(data) }, { ifMatch: etag });
}

// For settings that are saved as soon as they are switched.
export function useSettingsChange(tenant_id: string) {
  const queries = useQueryClient();
  return useAction((change: Change) => changeSettings(tenant_id, change), {
    // One at a time, because concurrent changes conflict.
    scope: { id: `settings of ${tenant_id}` },
    onSuccess: ({ data, etag = '*' }) => {
      // Only if they are shown: a form that opens later reads them itself.
      queries.setQueryData(settingsKey(tenant_id), (shown: unknown) => shown && { settings: data, etag });
      return queries.invalidateQueries({ queryKey: skillsKey(tenant_id) });
    },
  });
}
