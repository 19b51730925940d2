import { Button, Checkbox, Code, Group, Stack, Text } from '@mantine/core';
import { StakError } from '@stak/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Loaded } from '../../../components/feedback/loaded.tsx';
import { OneTimeSecret } from '../../../components/fields/one-time-secret.tsx';
import { useSubmit } from '../../../queries/actions.ts';
import { client } from '../../../queries/api.ts';
import { useSettingsChange } from '../../tenants/settings-change.ts';
import { skillsKey } from '../queries.ts';
import type { FilledSkill, SkillBody } from './skill-draft.ts';
import { SkillFields } from './skill-fields.tsx';
import { switchSkill } from './switched-skills.ts';

type Props = { tenant_id: string; name: string | undefined; onDone: () => void };

export function SkillForm({ name, ...props }: Props) {
  if (name === undefined) return <NewSkill {...props} />;
  return <ChangedSkill name={name} {...props} />;
}

// Without the condition the call would overwrite an existing skill.
async function register(tenant_id: string, name: string, body: SkillBody): Promise<string> {
  const isNew = { 'if-none-match': '*' } as const;
  try {
    return (await client.agents.putCustomSkill({ tenant_id, name, body, ...isNew })).data.secret!;
  } catch (error) {
    const isTaken = error instanceof StakError && error.code === 'agents.skill_exists';
    throw isTaken ? new Error(`You have a skill named ${name} already. Choose another name.`) : error;
  }
}

function NewSkill({ tenant_id, onDone }: Omit<Props, 'name'>) {
  const queries = useQueryClient();
  const [isEnabled, setIsEnabled] = useState(true);
  const enable = useSettingsChange(tenant_id);
  const create = useSubmit(({ name, body }: FilledSkill) => register(tenant_id, name, body), {
    onSuccess: (_, { name }) => {
      // Not awaited: the secret is shown even if this fails.
      if (isEnabled) enable.mutate(settings => switchSkill(settings, { name, is_custom: true }, true));
      void queries.invalidateQueries({ queryKey: skillsKey(tenant_id) });
    },
  });
  if (create.data !== undefined) return <Registered secret={create.data} onDone={onDone} />;
  return (
    <SkillFields
      tenant_id={tenant_id}
      button="Register"
      isBusy={create.isPending}
      error={create.error}
      onFilled={create.mutate}
    >
      <Checkbox
        label="Enable it now"
        checked={isEnabled}
        onChange={event => setIsEnabled(event.currentTarget.checked)}
      />
    </SkillFields>
  );
}

const Registered = ({ secret, onDone }: { secret: string; onDone: () => void }) => (
  <Stack>
    <OneTimeSecret use="Calls are signed with this secret." value={secret} isFocused />
    <Text size="sm">
      Your server gets <Code>{'{ skill, arguments, conversation_id, user_id }'}</Code> by POST, with the
      headers <Code>webhook-id</Code>, <Code>webhook-timestamp</Code> and <Code>webhook-signature</Code> of
      Standard Webhooks. It has ten seconds to answer, with JSON or text.
    </Text>
    <Group justify="end">
      <Button onClick={onDone}>Done</Button>
    </Group>
  </Stack>
);

// Loads the current skill, because the list may be stale, and saves it only if nobody else has changed it.
function ChangedSkill({ tenant_id, name, onDone }: Props & { name: string }) {
  const read = useQuery({
    queryKey: ['skill', tenant_id, name],
    queryFn: () => client.agents.getCustomSkill({ tenant_id, name }),
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const save = useSubmit(
    ({ body }: FilledSkill) =>
      client.agents.putCustomSkill({ tenant_id, name, body }, { ifMatch: read.data?.etag ?? '*' }),
    { done: 'Saved.', onSuccess: onDone, refreshes: [skillsKey(tenant_id)] },
  );
  return (
    <Loaded query={read}>
      {({ data }) => (
        <SkillFields
          tenant_id={tenant_id}
          skill={data}
          button="Save"
          isBusy={save.isPending}
          error={save.error}
          onFilled={save.mutate}
        />
      )}
    </Loaded>
  );
}
