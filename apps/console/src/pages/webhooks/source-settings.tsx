import { Button, Card, Group, NumberInput, Select, Stack, Text, TextInput, Title } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import type { ApiTypes } from '@stak/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { complain, fieldComplaints } from '../../components/complaint.ts';
import { Failure } from '../../components/failure.tsx';
import { JsonField } from '../../components/json-field.tsx';
import { OneTimeSecret } from '../../components/one-time-secret.tsx';
import { client } from '../../queries/api.ts';
import { providerNames } from './providers.ts';
import type { Source } from './queries.ts';

type Change = ApiTypes['webhooks.editSource']['args']['body'];
type Signatures = Source['signatures'];
type WhilePaused = Source['whilePaused'];

const checks = [
  { value: 'off', label: 'Do not check' },
  { value: 'reject', label: 'Refuse requests without a valid one' },
  { value: 'store', label: 'Keep such requests as rejected events' },
];
const pauses = [
  { value: 'hold', label: 'Keep events and deliver them later' },
  { value: 'refuse', label: 'Refuse events (410)' },
];
const algorithms = ['hmac-sha256', 'hmac-sha1', 'hmac-sha512'];

// Everything about a source that can be changed.
export function SourceSettings({ source }: { source: Source }) {
  const { sourceId, provider } = source;
  const queries = useQueryClient();
  const given = source.signingAlgorithm;
  const [signatures, setSignatures] = useState<Signatures>(source.signatures);
  const [whilePaused, setWhilePaused] = useState<WhilePaused>(source.whilePaused);
  const [algorithm, setAlgorithm] = useState(typeof given === 'object' ? 'own' : (given ?? 'hmac-sha256'));
  const [ownAlgorithm, setOwnAlgorithm] = useState(
    JSON.stringify(
      typeof given === 'object' ? given : { algorithm: 'sha256', header: 'X-Signature', encoding: 'hex' },
      null,
      2,
    ),
  );
  const [toleranceS, setToleranceS] = useState<number | string>(source.toleranceS ?? '');
  const [alertSecret, setAlertSecret] = useState<string>();
  const take = (data: Source & { alertSecret?: string | undefined }) => {
    if (data.alertSecret !== undefined) setAlertSecret(data.alertSecret);
    void queries.invalidateQueries({ queryKey: ['sources'] });
    queries.setQueryData(['source', sourceId], data);
  };
  const save = useMutation({
    mutationFn: async (body: Change) => (await client.webhooks.editSource({ sourceId, body })).data,
    onSuccess: data => {
      notifications.show({ message: 'The source is saved.' });
      take(data);
    },
  });
  const rotate = useMutation({
    mutationFn: async () => (await client.webhooks.rotateAlertSecret({ sourceId })).data,
    onSuccess: take,
    onError: complain,
  });
  const isFromStak = provider === 'stak';
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    const text = (name: string) => String(fields.get(name) ?? '').trim();
    const secret = text('secret');
    const ofSender: Change = {
      signatures,
      dedupeHeader: text('dedupe') || null,
      toleranceS: toleranceS === '' ? null : Number(toleranceS),
      ...(secret && { signingSecret: secret }),
      ...(provider === 'custom' && {
        signingAlgorithm: algorithm === 'own' ? JSON.parse(ownAlgorithm) : algorithm,
      }),
    };
    save.mutate({
      name: text('name'),
      whilePaused,
      alertUrl: text('alerts') || null,
      ...(!isFromStak && ofSender),
    });
  };
  const complaints = fieldComplaints(save.error);
  const hasField = Object.keys(complaints).length > 0;
  return (
    <Card withBorder maw={680}>
      <form onSubmit={submit}>
        <Stack>
          {save.error && !hasField && <Failure error={save.error} />}
          <TextInput
            name="name"
            label="Name"
            required
            maxLength={100}
            defaultValue={source.name}
            error={complaints.name}
          />
          {!isFromStak && (
            <>
              <Title order={3} size="h5">
                Signatures of {provider === 'custom' ? 'the sender' : providerNames[provider]}
              </Title>
              <Select
                label="Check"
                data={checks}
                value={signatures}
                allowDeselect={false}
                onChange={value => setSignatures(value as Signatures)}
                error={complaints.signatures}
              />
              <TextInput
                name="secret"
                label={source.hasSigningSecret ? 'New signing secret' : 'Signing secret'}
                description={
                  source.hasSigningSecret
                    ? 'Leave it empty to keep the present one. After a change both are accepted for 24 hours.'
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
                  value={algorithm}
                  allowDeselect={false}
                  onChange={value => setAlgorithm(value ?? 'hmac-sha256')}
                  error={algorithm !== 'own' && complaints.signingAlgorithm}
                />
              )}
              {provider === 'custom' && algorithm === 'own' && (
                <JsonField
                  label="Algorithm as JSON"
                  description="algorithm, header, encoding; optional: prefix, secretEncoding, timestampHeader, idHeader, template"
                  value={ownAlgorithm}
                  onChange={setOwnAlgorithm}
                  error={complaints.signingAlgorithm}
                />
              )}
              <NumberInput
                label="Time tolerance"
                description="How many seconds a signed timestamp may be off. Empty means 300."
                min={1}
                max={86_400}
                allowDecimal={false}
                value={toleranceS}
                onChange={setToleranceS}
                error={complaints.toleranceS}
              />
              <TextInput
                name="dedupe"
                label="Header with the sender’s id"
                description="Events with the same id are stored once. Empty takes the provider’s own."
                defaultValue={source.dedupeHeader}
                error={complaints.dedupeHeader}
              />
            </>
          )}
          <Title order={3} size="h5">
            Pauses and alerts
          </Title>
          <Select
            label="While paused"
            data={pauses}
            value={whilePaused}
            allowDeselect={false}
            onChange={value => setWhilePaused(value as WhilePaused)}
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
          {alertSecret !== undefined && (
            <OneTimeSecret use="Alerts are signed with this secret." value={alertSecret} />
          )}
          <Group justify="space-between">
            {source.alertUrl === undefined ? (
              <span />
            ) : (
              <Button variant="default" loading={rotate.isPending} onClick={() => rotate.mutate()}>
                Rotate alert secret
              </Button>
            )}
            <Button type="submit" loading={save.isPending}>
              Save
            </Button>
          </Group>
          {source.alertUrl !== undefined && (
            <Text size="xs" c="dimmed">
              After a rotation, alerts carry signatures of both secrets for 24 hours.
            </Text>
          )}
        </Stack>
      </form>
    </Card>
  );
}
