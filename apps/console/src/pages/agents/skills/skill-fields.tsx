import { Anchor, Button, Group, Stack, Textarea, TextInput } from '@mantine/core';
import { type FormEvent, type ReactNode, useState } from 'react';
import { fieldComplaints } from '../../../components/complaint.ts';
import { Failure } from '../../../components/failure.tsx';
import { JsonField } from '../../../components/json-field.tsx';
import {
  bodyOfSkill,
  draftOfSkill,
  exampleArguments,
  type SkillBody,
  type SkillDraft,
} from './skill-draft.ts';

export type FilledSkill = { name: string; body: SkillBody };

type Props = {
  skill?: SkillBody; // none for a new one, which gets a name too
  button: string;
  isBusy: boolean;
  error: unknown;
  onFilled: (filled: FilledSkill) => void;
  children?: ReactNode; // beside the button
  trial?: (readTyped: () => SkillBody | undefined) => ReactNode; // below the form: it tries what stands in it
};

export function SkillFields({ skill, button, isBusy, error, onFilled, children, trial }: Props) {
  const [name, setName] = useState('');
  const [draft, setDraft] = useState(() => draftOfSkill(skill));
  const [isMisread, setIsMisread] = useState(false);
  const edit = (part: Partial<SkillDraft>) => setDraft(old => ({ ...old, ...part }));
  const complaints = fieldComplaints(error);
  const readTyped = () => {
    const body = bodyOfSkill(draft);
    setIsMisread(body === undefined);
    return body;
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const body = readTyped();
    if (body) onFilled({ name, body });
  };
  const form = (
    <form onSubmit={submit}>
      <Stack gap="sm">
        {!skill && (
          <TextInput
            label="Name"
            description="Lower-case letters, digits and _. It cannot be changed later."
            placeholder="opening_hours"
            required
            maxLength={64}
            pattern="[a-z][a-z0-9_]*"
            title="A lower-case letter, then letters, digits and _"
            value={name}
            onChange={event => setName(event.currentTarget.value)}
            error={complaints.name}
            data-autofocus
          />
        )}
        <Textarea
          label="What it does"
          description="Tells the model when to call it."
          placeholder="Says when the shop is open."
          required
          maxLength={1_000}
          autosize
          minRows={2}
          maxRows={6}
          value={draft.description}
          onChange={event => edit({ description: event.currentTarget.value })}
          error={complaints.description}
        />
        <TextInput
          type="url"
          label="Address"
          description="On your server. It is called with POST."
          placeholder="https://api.example.com/skills/opening-hours"
          required
          maxLength={2_000}
          value={draft.url}
          onChange={event => edit({ url: event.currentTarget.value })}
          error={complaints.url}
        />
        <Textarea
          label="Trigger phrases"
          description="Call it without a model when a user says them. For skills without arguments; one per line."
          placeholder="opening hours"
          autosize
          maxRows={6}
          value={draft.triggers}
          onChange={event => edit({ triggers: event.currentTarget.value })}
          error={complaints.triggers}
        />
        <JsonField
          label="Arguments"
          description={
            <>
              What the model has to say, as a JSON Schema.{' '}
              <Anchor
                component="button"
                type="button"
                size="xs"
                underline="always"
                onClick={() => edit({ parameters: exampleArguments })}
              >
                Show an example
              </Anchor>
            </>
          }
          maxRows={14}
          value={draft.parameters}
          onChange={parameters => edit({ parameters })}
          error={isMisread ? 'This is not an object in JSON' : complaints.parameters}
        />
        {error !== null && <Failure error={error} />}
        <Group justify="space-between">
          {children}
          <Button ml="auto" type="submit" loading={isBusy}>
            {button}
          </Button>
        </Group>
      </Stack>
    </form>
  );
  if (!trial) return form;
  return (
    <Stack>
      {form}
      {trial(readTyped)}
    </Stack>
  );
}
