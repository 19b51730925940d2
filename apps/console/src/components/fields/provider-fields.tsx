import { Alert, Button, PasswordInput, TextInput } from '@mantine/core';
import type { UseMutationResult } from '@tanstack/react-query';
import { Confirm } from './confirm.tsx';

type ProviderSettings = { issuer: string; clientId: string; domains: readonly string[] };
type Complaints = Partial<Record<'issuer' | 'clientId' | 'clientSecret' | 'domains', string | undefined>>;

/** The fields of an OpenID Connect provider, of which there may be one already. */
export function ProviderFields({
  known,
  complaints,
}: {
  known: ProviderSettings | undefined;
  complaints: Complaints;
}) {
  return (
    <>
      <TextInput
        name="issuer"
        label="Issuer"
        placeholder="https://login.example.com"
        required
        defaultValue={known?.issuer}
        error={complaints.issuer}
      />
      <TextInput
        name="clientId"
        label="Client ID"
        required
        defaultValue={known?.clientId}
        error={complaints.clientId}
      />
      <PasswordInput
        name="clientSecret"
        label="Client secret"
        description={known ? 'Leave empty to keep the present one of the same issuer' : undefined}
        required={known === undefined}
        autoComplete="off"
        error={complaints.clientSecret}
      />
      <TextInput
        name="domains"
        label="E-mail domains that may sign in"
        placeholder="example.com, example.org"
        required
        defaultValue={known?.domains.join(', ')}
        error={complaints.domains}
      />
    </>
  );
}

export function readProviderFields(text: (field: string) => string) {
  const [issuer, clientId, clientSecret] = ['issuer', 'clientId', 'clientSecret'].map(name =>
    text(name).trim(),
  ) as [string, string, string];
  const domains = text('domains')
    .split(/[\s,]+/)
    .filter(Boolean);
  return { issuer, clientId, clientSecret: clientSecret === '' ? undefined : clientSecret, domains };
}

export function ProviderTest({ isWorking, detail }: { isWorking: boolean; detail: string }) {
  return (
    <Alert
      color={isWorking ? undefined : 'red'}
      title={isWorking ? 'The provider answers' : 'The provider does not work'}
    >
      {detail}
    </Alert>
  );
}

type Action = Pick<UseMutationResult<unknown, Error, void>, 'isPending' | 'mutate'>;
type ActionsProps = { test: Action; remove: Action; what: string; consequence: string };

/** Buttons that test a provider, and remove it after a question. */
export function ProviderActions({ test, remove, what, consequence }: ActionsProps) {
  return (
    <>
      <Button variant="default" loading={test.isPending} onClick={() => test.mutate()}>
        Test the provider
      </Button>
      <Confirm title={`Remove ${what}?`} text={consequence} button="Remove" onConfirm={() => remove.mutate()}>
        {ask => (
          <Button variant="default" color="red" loading={remove.isPending} onClick={ask}>
            Remove {what}
          </Button>
        )}
      </Confirm>
    </>
  );
}
