import { useMutation, useQueryClient } from '@tanstack/react-query';
import { complain } from '../../components/complaint.ts';
import { client } from '../../queries/api.ts';
import { settingsKey } from '../../queries/tenants.ts';
import { skillsKey } from '../agents/queries.ts';
import type { Settings, SettingsPatch } from './settings-draft.ts';

type Change = (settings: Settings) => SettingsPatch;

// Made from the settings as they are at this moment, so that nobody else's change is lost.
export async function changeSettings(tenant_id: string, change: Change) {
  const { data, etag = '*' } = await client.tenants.getSettings({ tenant_id });
  return client.tenants.updateSettings({ tenant_id, body: change(data) }, { ifMatch: etag });
}

// For what is written as it is switched.
export function useSettingsChange(tenant_id: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (change: Change) => changeSettings(tenant_id, change),
    scope: { id: `settings of ${tenant_id}` }, // one after the other, or they would refuse each other
    onSuccess: ({ data, etag = '*' }) => {
      // Only where they are shown: a form that opens later reads them itself.
      queries.setQueryData(settingsKey(tenant_id), (shown: unknown) => shown && { settings: data, etag });
      return queries.invalidateQueries({ queryKey: skillsKey(tenant_id) });
    },
    onError: complain,
  });
}
