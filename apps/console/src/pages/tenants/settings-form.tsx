import {
  Alert,
  Autocomplete,
  Card,
  Input,
  NumberInput,
  SegmentedControl,
  SimpleGrid,
  Stack,
  Textarea,
} from '@mantine/core';
import type { ApiTypes } from '@stak/client';
import { type ReactNode, useId, useState } from 'react';
import { Heading } from '../../components/display/section.tsx';
import { Permitted, PermittedFields } from '../../components/feedback/permitted.tsx';
import { submitHandler } from '../../components/fields/submit-handler.ts';
import { SubmitRow } from '../../components/fields/submit-row.tsx';
import { useAnswer } from '../../queries/answers.ts';
import { client } from '../../queries/api.ts';
import { PromptTrial } from './prompt-trial.tsx';
import { draftOf, type Settings, type SettingsDraft } from './settings-draft.ts';

type Props = {
  settings: Settings;
  isBusy: boolean;
  complaints: Readonly<Record<string, string>>;
  onSave: (draft: SettingsDraft) => void;
  children: ReactNode; // the result of saving
};

export function SettingsForm({ settings, isBusy, complaints, onSave, children }: Props) {
  const [draft, setDraft] = useState(() => draftOf(settings));
  const edit = (part: Partial<SettingsDraft>) => setDraft(old => ({ ...old, ...part }));
  const submit = submitHandler(() => onSave(draft));
  const section = { draft, edit, complaints };
  return (
    <form onSubmit={submit}>
      <PermittedFields to="tenants.updateSettings">
        <Stack>
          <SimpleGrid cols={{ base: 1, lg: 2 }} style={{ alignItems: 'start' }}>
            <ModelFields {...section} />
            <Stack>
              <LimitFields {...section} />
              <Permitted to="agents.testModel">
                <PromptTrial draft={draft} />
              </Permitted>
            </Stack>
          </SimpleGrid>
          {children}
          <SubmitRow isBusy={isBusy}>Save settings</SubmitRow>
        </Stack>
      </PermittedFields>
    </form>
  );
}

type Section = {
  draft: SettingsDraft;
  edit: (part: Partial<SettingsDraft>) => void;
  complaints: Readonly<Record<string, string>>;
};

type Model = ApiTypes['agents.listModels']['data']['data'][number];

// Offers the models that the provider lists. Without a list any name can be entered, and the server checks it.
function ModelFields({ draft, edit, complaints }: Section) {
  const listed = useAnswer(['models'], () => client.agents.listModels(), { staleTime: 60_000 });
  const models = listed.data?.data ?? [];
  const providers = [...new Set(models.map(model => model.provider))];
  const modelsOf = (provider: string) =>
    models.filter(model => model.provider === provider).map(model => model.model);
  const chosen = models.find(model => model.provider === draft.provider && model.model === draft.model);
  return (
    <Card withBorder component="section" aria-label="Model">
      <Stack gap="sm">
        <Heading>Model</Heading>
        {listed.data?.missing && (
          <Alert color="yellow" title="This server has no default model">
            {listed.data.missing}
          </Alert>
        )}
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
          <Autocomplete
            label="Provider"
            description="One that your operator has set up"
            data={providers}
            filter={({ options }) => options} // show all options, even when one is selected
            required
            value={draft.provider}
            onChange={provider => edit({ provider })}
            error={complaints.ai_provider}
          />
          <Autocomplete
            label="Model"
            description={chosen ? tellPrice(chosen) : 'The provider’s name for it'}
            data={modelsOf(draft.provider)}
            limit={50}
            required
            maxLength={200}
            value={draft.model}
            onChange={model => edit({ model })}
            error={complaints.ai_model}
          />
          <Autocomplete
            label="Fallback provider"
            data={providers}
            filter={({ options }) => options}
            required={draft.fallbackModel !== ''}
            value={draft.fallbackProvider}
            onChange={fallbackProvider => edit({ fallbackProvider })}
          />
          <Autocomplete
            label="Fallback model"
            placeholder="None"
            data={modelsOf(draft.fallbackProvider)}
            limit={50}
            maxLength={200}
            value={draft.fallbackModel}
            onChange={fallbackModel => edit({ fallbackModel })}
            error={complaints.ai_fallback}
          />
        </SimpleGrid>
        <Textarea
          label="Instructions"
          description="The model reads them first. Leave empty for the standard ones."
          autosize
          minRows={3}
          maxRows={14}
          maxLength={20_000}
          value={draft.prompt}
          onChange={event => edit({ prompt: event.currentTarget.value })}
          error={complaints.system_prompt_override}
        />
      </Stack>
    </Card>
  );
}

const tellPrice = ({ price, is_default }: Model): string =>
  [
    price ? `$${price.input} in, $${price.output} out per million tokens` : 'No price is set',
    is_default && 'the default of this server',
  ]
    .filter(Boolean)
    .join('; ');

type AmountName = 'maxTokens' | 'history' | 'contextTokens' | 'messagesPerDay' | 'messagesPerUser';
type AmountField = {
  name: AmountName;
  field: string;
  label: string;
  empty: string;
  min: number;
  max: number;
};

const amounts: readonly AmountField[] = [
  {
    name: 'messagesPerDay',
    field: 'messages_per_day',
    label: 'Messages a day',
    empty: '1,000',
    min: 0,
    max: 10_000_000,
  },
  {
    name: 'messagesPerUser',
    field: 'messages_per_user_per_day',
    label: 'Messages per user and day',
    empty: 'No limit',
    min: 0,
    max: 10_000_000,
  },
  {
    name: 'maxTokens',
    field: 'max_tokens_per_message',
    label: 'Tokens per answer',
    empty: '4,096',
    min: 1,
    max: 200_000,
  },
  {
    name: 'history',
    field: 'max_conversation_history',
    label: 'Earlier messages read',
    empty: '20',
    min: 0,
    max: 1_000,
  },
  {
    name: 'contextTokens',
    field: 'max_context_tokens',
    label: 'Tokens of earlier messages',
    empty: '16,000',
    min: 1,
    max: 200_000,
  },
];

const toAmount = (value: number | string): number | '' => (value === '' ? '' : Number(value));

function LimitFields({ draft, edit, complaints }: Section) {
  const busyLabel = useId();
  return (
    <Card withBorder component="section" aria-label="Limits">
      <Stack gap="sm">
        <Heading>Limits</Heading>
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
          {amounts.map(({ name, field, label, empty, min, max }) => (
            <NumberInput
              key={name}
              label={label}
              placeholder={empty}
              min={min}
              max={max}
              allowDecimal={false}
              thousandSeparator
              value={draft[name]}
              onChange={value => edit({ [name]: toAmount(value) })}
              error={complaints[field]}
            />
          ))}
          <NumberInput
            label="Dollars a day"
            placeholder="No limit"
            prefix="$"
            min={0}
            decimalScale={2}
            value={draft.spendUsd}
            onChange={value => edit({ spendUsd: toAmount(value) })}
            error={complaints.spend_per_day_usd}
          />
        </SimpleGrid>
        <div>
          <Input.Label labelElement="div" display="block" mb={4} id={busyLabel}>
            A message while another one is answered
          </Input.Label>
          <SegmentedControl
            aria-labelledby={busyLabel}
            data={[
              { value: 'wait', label: 'Waits' },
              { value: 'refuse', label: 'Is refused' },
            ]}
            value={draft.busy}
            onChange={value => edit({ busy: value as SettingsDraft['busy'] })}
          />
        </div>
      </Stack>
    </Card>
  );
}
