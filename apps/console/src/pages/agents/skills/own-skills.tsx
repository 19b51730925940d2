import { Button, Card, Group, Modal, Text } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { DataTable } from '../../../components/display/data-table.tsx';
import { Heading } from '../../../components/display/section.tsx';
import { Loaded } from '../../../components/feedback/loaded.tsx';
import { Permitted } from '../../../components/feedback/permitted.tsx';
import { ActionMenu } from '../../../components/fields/action-menu.tsx';
import { useAction } from '../../../queries/actions.ts';
import { client } from '../../../queries/api.ts';
import { changeSettings } from '../../tenants/settings-change.ts';
import { type OwnSkill, skillsKey, useOwnSkills } from '../queries.ts';
import { SkillForm } from './skill-form.tsx';
import { SkillSwitch } from './skill-switch.tsx';
import { switchSkill } from './switched-skills.ts';

// Skills that the tenant serves itself: the agent calls an address.
export function OwnSkills({ tenant_id }: { tenant_id: string }) {
  const [edited, setEdited] = useState<{ name?: string }>();
  const close = () => setEdited(undefined);
  const skills = useOwnSkills(tenant_id);
  return (
    <Card withBorder component="section" aria-label="Your own skills">
      <Group justify="space-between" mb="sm">
        <div>
          <Heading>Your own skills</Heading>
          <Text c="dimmed" size="sm">
            The agent calls your server and answers with its response.
          </Text>
        </div>
        <Permitted to="agents.putCustomSkill">
          <Button leftSection={<IconPlus size={16} />} onClick={() => setEdited({})}>
            Register a skill
          </Button>
        </Permitted>
      </Group>
      <Loaded query={skills}>
        {rows => (
          <DataTable
            label="Your own skills"
            rows={rows}
            keyOf={row => row.name}
            minWidth={640}
            empty="There are none yet. Register an address on your server that looks something up or does something, such as checking an order."
            columns={[
              {
                label: 'Skill',
                show: row => (
                  <>
                    <span className="stak-mono">{row.name}</span>
                    <Text size="xs" c="dimmed" lineClamp={2}>
                      {row.description}
                    </Text>
                  </>
                ),
              },
              { label: 'Address', show: row => <span className="stak-mono">{row.url}</span> },
              { label: 'Trigger phrases', show: row => row.triggers.join(', ') || '–' },
              {
                label: 'Enabled',
                show: row => (
                  <SkillSwitch
                    tenant_id={tenant_id}
                    skill={{ ...row, is_custom: true }}
                    aria-label={`${row.name} is enabled`}
                  />
                ),
              },
              {
                label: '',
                show: row => (
                  <SkillMenu tenant_id={tenant_id} skill={row} onEdit={() => setEdited({ name: row.name })} />
                ),
              },
            ]}
          />
        )}
      </Loaded>
      <Modal
        opened={edited !== undefined}
        onClose={close}
        title={edited?.name === undefined ? 'Register a skill' : `Change ${edited.name}`}
        size="lg"
        closeOnClickOutside={false} // it may show a secret that is shown only once
      >
        {edited && <SkillForm tenant_id={tenant_id} name={edited.name} onDone={close} />}
      </Modal>
    </Card>
  );
}

type RowProps = { tenant_id: string; skill: OwnSkill };

function SkillMenu({ tenant_id, skill: { name, is_enabled }, onEdit }: RowProps & { onEdit: () => void }) {
  const queries = useQueryClient();
  const remove = useAction(
    async () => {
      // Otherwise the next skill with this name would be enabled from the start.
      if (is_enabled)
        await changeSettings(tenant_id, settings => switchSkill(settings, { name, is_custom: true }, false));
      await client.agents.deleteCustomSkill({ tenant_id, name });
    },
    { onSettled: () => queries.invalidateQueries({ queryKey: skillsKey(tenant_id) }) },
  );
  return (
    <ActionMenu
      label={`Actions of ${name}`}
      actions={[
        { label: 'Change…', needs: 'agents.putCustomSkill', onClick: onEdit },
        {
          label: 'Remove…',
          needs: 'agents.deleteCustomSkill',
          question: {
            title: `Remove ${name}?`,
            text: 'The agent no longer calls it, and its secret is deleted. Registering it again creates a new one.',
            button: 'Remove',
          },
          onClick: () => remove.mutate(),
        },
      ]}
    />
  );
}
