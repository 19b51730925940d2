import { Checkbox, MultiSelect, Stack, Textarea, TextInput } from '@mantine/core';
import type { ApiTypes } from '@stak/client';
import { type FormEvent, useState } from 'react';
import { SaveFailure } from '../../../components/feedback/save-failure.tsx';
import { JsonField } from '../../../components/fields/json-field.tsx';
import { SubmitRow } from '../../../components/fields/submit-row.tsx';
import { useSkills } from '../queries.ts';

export type AgentDraft = ApiTypes['agents.saveAgent']['args']['body'];

type Props = {
  tenant_id: string;
  draft: AgentDraft;
  others: readonly string[]; // agents
  isBusy: boolean;
  error: unknown;
  onFilled: (draft: AgentDraft) => void;
};

// What most agents have is a field; the rest of the definition is JSON.
export function AgentFields({ tenant_id, draft, others, isBusy, error, onFilled }: Props) {
  const { description, prompt, greeting, skills, handoffs, asks, is_open_to_users, ...rest } = draft;
  const [fields, setFields] = useState({
    ...{ description, prompt, greeting, skills, handoffs, asks, is_open_to_users },
  });
  const [more, setMore] = useState(JSON.stringify(rest, null, 2));
  const parsed = parseObject(more);
  const change = (part: Partial<typeof fields>) => setFields(before => ({ ...before, ...part }));
  const known = useSkills(tenant_id).data?.map(({ name }) => name) ?? [];
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (parsed) onFilled({ ...parsed, ...fields });
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <TextInput
          label="What it is for"
          description="Other agents read it to decide whom to ask."
          value={fields.description}
          maxLength={1000}
          onChange={event => change({ description: event.currentTarget.value })}
        />
        <Textarea
          label="Prompt"
          description="Variables are written as {{name}}. Empty for the prompt of the settings."
          value={fields.prompt}
          autosize
          minRows={8}
          maxRows={24}
          maxLength={20_000}
          onChange={event => change({ prompt: event.currentTarget.value })}
        />
        <Textarea
          label="Greeting"
          value={fields.greeting}
          autosize
          maxLength={2000}
          onChange={event => change({ greeting: event.currentTarget.value })}
        />
        <MultiSelect
          label="Skills"
          data={[...new Set([...known, ...(skills ?? [])])]}
          value={fields.skills}
          onChange={chosen => change({ skills: chosen })}
          searchable
        />
        <MultiSelect
          label="May hand over to"
          data={others}
          value={fields.handoffs}
          onChange={chosen => change({ handoffs: chosen })}
        />
        <MultiSelect
          label="May ask"
          data={others}
          value={fields.asks}
          onChange={chosen => change({ asks: chosen })}
        />
        <Checkbox
          label="Users may begin conversations with it"
          checked={fields.is_open_to_users}
          onChange={event => change({ is_open_to_users: event.currentTarget.checked })}
        />
        <JsonField
          label="More"
          description="Variables, models, approvals, memory, limits of spending and languages."
          value={more}
          onChange={setMore}
        />
        {error != null && <SaveFailure error={error} />}
        <SubmitRow isBusy={isBusy} disabled={!parsed}>
          Save the draft
        </SubmitRow>
      </Stack>
    </form>
  );
}

function parseObject(text: string): AgentDraft | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
