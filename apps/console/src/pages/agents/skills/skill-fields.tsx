import { Anchor, Button, Divider, Group, Stack, Textarea, TextInput } from '@mantine/core';
import { type ReactNode, useRef, useState } from 'react';
import { fieldComplaints } from '../../../components/feedback/complaint.ts';
import { Failure } from '../../../components/feedback/failure.tsx';
import { Permitted } from '../../../components/feedback/permitted.tsx';
import { JsonField } from '../../../components/fields/json-field.tsx';
import { submitHandler } from '../../../components/submit-handler.ts';
import {
  bodyOfSkill,
  draftOfSkill,
  exampleArguments,
  type FilledSkill,
  type SkillBody,
  type SkillDraft,
} from './skill-draft.ts';
import { SkillTrial } from './skill-trial.tsx';

type Props = {
  tenant_id: string;
  skill?: SkillBody & { name: string }; // none for a new one, which needs a name too
  button: string;
  isBusy: boolean;
  error: unknown;
  onFilled: (filled: FilledSkill) => void;
  children?: ReactNode; // beside the button
};

/** The form of a skill, and a trial that calls what is typed in it. */
export function SkillFields({ tenant_id, skill, button, isBusy, error, onFilled, children }: Props) {
  const form = useRef<HTMLFormElement>(null);
  const [name, setName] = useState(skill?.name ?? '');
  const [draft, setDraft] = useState(() => draftOfSkill(skill));
  const [isMisread, setIsMisread] = useState(false);
  const edit = (part: Partial<SkillDraft>) => setDraft(old => ({ ...old, ...part }));
  const complaints = fieldComplaints(error);
  const readTyped = (): FilledSkill | undefined => {
    if (!form.current!.reportValidity()) return undefined;
    const body = bodyOfSkill(draft);
    setIsMisread(body === undefined);
    return body && { name, body };
  };
  const submit = submitHandler(() => {
    const filled = readTyped();
    if (filled) onFilled(filled);
  });
  return (
    <Stack>
      <form ref={form} onSubmit={submit}>
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
            error={isMisread ? 'Enter a JSON object' : complaints.parameters}
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
      <Permitted to="agents.testCustomSkill">
        <Divider />
        <SkillTrial tenant_id={tenant_id} isNew={!skill} readTyped={readTyped} />
      </Permitted>
    </Stack>
  );
}
