import { Button, Card, Group, NumberInput, Select, Stack, Switch, TextInput, Title } from '@mantine/core';
import type { ApiTypes } from '@stak/client';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { complain, fieldComplaints } from '../../components/feedback/complaint.ts';
import { PermittedFields } from '../../components/feedback/permitted.tsx';
import { SaveFailure } from '../../components/feedback/save-failure.tsx';
import { JsonField } from '../../components/fields/json-field.tsx';
import { OneTimeSecret } from '../../components/fields/one-time-secret.tsx';
import { submitHandler } from '../../components/submit-handler.ts';
import { useAction, useSubmit } from '../../queries/actions.ts';
import { client } from '../../queries/api.ts';
import { useMay } from '../../queries/permissions.ts';
import { saveOver, useFilling, type Versioned } from '../../queries/save-over.ts';
import { providerNames } from './providers.ts';
import { type Source, sourceQuery } from './queries.ts';

type Change = ApiTypes['webhooks.editSource']['args']['body'];
type Signatures = Source['signatures'];
type WhilePaused = Source['whilePaused'];

const checks = [
  { value: 'off', label: 'Accept without checking' },
  { value: 'reject', label: 'Refuse' },
  { value: 'store', label: 'Store as rejected events' },
];
const pauses = [
  { value: 'hold', label: 'Keep events and deliver them later' },
  { value: 'refuse', label: 'Refuse events (410)' },
];
const algorithms = ['hmac-sha256', 'hmac-sha1', 'hmac-sha512'];

type Draft = {
  signatures: Signatures;
  algorithm: string;
  ownAlgorithm: string; // as JSON, for `own`
  toleranceS: number | string;
  whilePaused: WhilePaused;
  auditTrail: boolean;
};

const exampleAlgorithm = { algorithm: 'sha256', header: 'X-Signature', encoding: 'hex' };

function draftOf(source: Source): Draft {
  const { signatures, signingAlgorithm: given, toleranceS, whilePaused, auditTrail } = source;
  const isOwn = typeof given === 'object';
  return {
    signatures,
    algorithm: isOwn ? 'own' : (given ?? 'hmac-sha256'),
    ownAlgorithm: JSON.stringify(isOwn ? given : exampleAlgorithm, null, 2),
    toleranceS: toleranceS ?? '',
    whilePaused,
    auditTrail,
  };
}

function changeOf(draft: Draft, source: Source, read: (field: string) => string): Change {
  const { provider } = source;
  const text = (field: string) => read(field).trim();
  const { signatures, algorithm, ownAlgorithm, toleranceS, whilePaused, auditTrail } = draft;
  const ofSender: Change = {
    signatures,
    dedupeHeader: text('dedupe') || null,
    toleranceS: toleranceS === '' ? null : Number(toleranceS),
    ...(text('secret') && { signingSecret: text('secret') }),
    ...(provider === 'custom' && {
      signingAlgorithm: algorithm === 'own' ? JSON.parse(ownAlgorithm) : algorithm,
    }),
  };
  const ofSource: Change = { name: text('name'), whilePaused, alertUrl: text('alerts') || null };
  if (provider !== 'stak') return { ...ofSource, ...ofSender };
  // Members who may not change it can save the rest.
  return auditTrail === source.auditTrail ? ofSource : { ...ofSource, auditTrail };
}

// The fields of the form.
const fieldsOf = (source: Source) => {
  const { name, dedupeHeader, alertUrl } = source;
  return { name, dedupeHeader, alertUrl, ...draftOf(source) };
};

type Written = Versioned<Source & { alertSecret?: string | undefined }>;

/** All settings of a source. */
export function SourceSettings({ read }: { read: Versioned<Source> }) {
  const { sourceId } = read.data;
  const queries = useQueryClient();
  const { round, filledWith, refill } = useFilling(read);
  const [alertSecret, setAlertSecret] = useState<string>();
  // The secret stays out of the query cache, which would show it again.
  const take = ({ data: { alertSecret: made, ...data }, etag }: Written) => {
    if (made !== undefined) setAlertSecret(made);
    void queries.invalidateQueries({ queryKey: ['sources'] });
    return queries.setQueryData(sourceQuery(sourceId).queryKey, { data, etag })!;
  };
  return (
    <SourceForm
      key={round}
      filledWith={filledWith}
      alertSecret={alertSecret}
      onSaved={saved => refill(take(saved))}
      onRotated={take}
      onReadAgain={() =>
        queries.fetchQuery({ ...sourceQuery(sourceId), staleTime: 0 }).then(refill, complain)
      }
    />
  );
}

type FormProps = {
  filledWith: Versioned<Source>;
  alertSecret: string | undefined;
  onSaved: (saved: Written) => void;
  onRotated: (written: Written) => void;
  onReadAgain: () => void;
};

function SourceForm({ filledWith, alertSecret, onSaved, onRotated, onReadAgain }: FormProps) {
  const source = filledWith.data;
  const { sourceId, provider } = source;
  const [draft, setDraft] = useState(() => draftOf(source));
  const edit = (part: Partial<Draft>) => setDraft(before => ({ ...before, ...part }));
  const save = useSubmit(
    async (text: (field: string) => string) => {
      const body = changeOf(draft, source, text);
      return saveOver(filledWith, {
        read: () => client.webhooks.readSource({ sourceId }),
        fieldsOf,
        save: ifMatch => client.webhooks.editSource({ sourceId, body }, { ifMatch }),
      });
    },
    { done: 'The source is saved.', onSuccess: onSaved },
  );
  const submit = submitHandler(text => save.mutate(text));
  const complaints = fieldComplaints(save.error);
  const hasField = Object.keys(complaints).length > 0;
  const fields = { source, draft, edit, complaints };
  return (
    <Card withBorder maw={680}>
      <form onSubmit={submit}>
        <PermittedFields to="webhooks.editSource">
          <Stack>
            {save.error && !hasField && <SaveFailure error={save.error} onReadAgain={onReadAgain} />}
            <TextInput
              name="name"
              label="Name"
              required
              maxLength={100}
              defaultValue={source.name}
              error={complaints.name}
            />
            {provider === 'stak' ? <TrailField {...fields} /> : <SignatureFields {...fields} />}
            <AlertFields {...fields} />
            {alertSecret !== undefined && (
              <OneTimeSecret use="Alerts are signed with this secret." value={alertSecret} />
            )}
            <Group justify="end">
              {source.alertUrl !== undefined && (
                <RotateAlertSecret sourceId={sourceId} onRotated={onRotated} />
              )}
              <Button type="submit" loading={save.isPending}>
                Save
              </Button>
            </Group>
          </Stack>
        </PermittedFields>
      </form>
    </Card>
  );
}

type FieldsProps = {
  source: Source;
  draft: Draft;
  edit: (part: Partial<Draft>) => void;
  complaints: Readonly<Record<string, string>>;
};

function SignatureFields({ source, draft, edit, complaints }: FieldsProps) {
  const { provider } = source;
  return (
    <>
      <Title order={3} size="h5">
        Signatures of {provider === 'custom' ? 'the sender' : providerNames[provider]}
      </Title>
      <Select
        label="Requests without a valid signature"
        data={checks}
        value={draft.signatures}
        allowDeselect={false}
        onChange={value => edit({ signatures: value as Signatures })}
        error={complaints.signatures}
      />
      <TextInput
        name="secret"
        label={source.hasSigningSecret ? 'New signing secret' : 'Signing secret'}
        description={
          source.hasSigningSecret
            ? 'Leave empty to keep the current one. After a change both are accepted for 24 hours.'
            : 'The provider shows it next to the address. Stak encrypts it and never shows it.'
        }
        type="password"
        autoComplete="off"
        error={complaints.signingSecret}
      />
      {provider === 'custom' && (
        <Select
          label="Algorithm"
          data={[...algorithms, { value: 'own', label: 'Other (JSON)' }]}
          value={draft.algorithm}
          allowDeselect={false}
          onChange={value => edit({ algorithm: value ?? 'hmac-sha256' })}
          error={draft.algorithm !== 'own' && complaints.signingAlgorithm}
        />
      )}
      {provider === 'custom' && draft.algorithm === 'own' && (
        <JsonField
          label="Algorithm as JSON"
          description="algorithm, header, encoding; optional: prefix, secretEncoding, timestampHeader, idHeader, template"
          value={draft.ownAlgorithm}
          onChange={ownAlgorithm => edit({ ownAlgorithm })}
          error={complaints.signingAlgorithm}
        />
      )}
      <NumberInput
        label="Time tolerance"
        description="How many seconds a signed timestamp may be off."
        placeholder="300"
        min={1}
        max={86_400}
        allowDecimal={false}
        value={draft.toleranceS}
        onChange={toleranceS => edit({ toleranceS })}
        error={complaints.toleranceS}
      />
      <TextInput
        name="dedupe"
        label="Header with the event id"
        description="Events with the same id are stored once. Leave empty for the provider’s own header."
        defaultValue={source.dedupeHeader}
        error={complaints.dedupeHeader}
      />
    </>
  );
}

function TrailField({ draft, edit, complaints }: FieldsProps) {
  const isAdmin = useMay()('accounts.listAudit');
  return (
    <Switch
      label="Audit trail"
      description={
        isAdmin
          ? 'Receives every entry of the organisation’s audit trail as an event.'
          : 'Receives every entry of the organisation’s audit trail as an event. Admins switch it.'
      }
      disabled={!isAdmin}
      checked={draft.auditTrail}
      onChange={event => edit({ auditTrail: event.currentTarget.checked })}
      error={complaints.auditTrail}
    />
  );
}

const AlertFields = ({ source, draft, edit, complaints }: FieldsProps) => (
  <>
    <Title order={3} size="h5">
      Pauses and alerts
    </Title>
    <Select
      label="While paused"
      data={pauses}
      value={draft.whilePaused}
      allowDeselect={false}
      onChange={value => edit({ whilePaused: value as WhilePaused })}
      error={complaints.whilePaused}
    />
    <TextInput
      name="alerts"
      type="url"
      label="Alert address"
      description="Gets a signed POST when a delivery fails for good or a destination keeps failing."
      placeholder="https://api.example.com/alerts"
      defaultValue={source.alertUrl}
      error={complaints.alertUrl}
    />
  </>
);

type RotateProps = { sourceId: string; onRotated: (written: Written) => void };

function RotateAlertSecret({ sourceId, onRotated }: RotateProps) {
  const rotate = useAction(() => client.webhooks.rotateAlertSecret({ sourceId }), {
    done: 'For 24 hours, alerts carry signatures of both secrets.',
    onSuccess: written => onRotated(written),
  });
  return (
    <Button variant="default" loading={rotate.isPending} onClick={() => rotate.mutate()}>
      Rotate alert secret
    </Button>
  );
}
