import { Switch, type SwitchProps } from '@mantine/core';
import { useState } from 'react';
import { useMay } from '../../../queries/permissions.ts';
import { useSettingsChange } from '../../tenants/settings-change.ts';
import { switchSkill } from './switched-skills.ts';

type Props = Pick<SwitchProps, 'label' | 'description' | 'aria-label'> & {
  tenant_id: string;
  skill: { name: string; is_custom: boolean; is_enabled: boolean };
};

// Switches optimistically, keeps the focus, and switches back if the server refuses.
export function SkillSwitch({ tenant_id, skill, ...look }: Props) {
  const [wanted, setWanted] = useState<boolean>();
  const change = useSettingsChange(tenant_id);
  const may = useMay();
  const turn = (isOn: boolean) => {
    setWanted(isOn);
    change.mutate(settings => switchSkill(settings, skill, isOn), {
      onSettled: () => setWanted(undefined),
    });
  };
  return (
    <Switch
      {...look}
      checked={wanted ?? skill.is_enabled}
      disabled={!may('tenants.updateSettings')}
      onChange={event => turn(event.currentTarget.checked)}
    />
  );
}
