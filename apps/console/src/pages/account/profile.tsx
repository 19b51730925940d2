import {
  Alert,
  Button,
  Card,
  Group,
  PasswordInput,
  SimpleGrid,
  Stack,
  Switch,
  Text,
  TextInput,
} from '@mantine/core';
import type { ApiTypes } from '@stak/client';
import { useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Heading, Section } from '../../components/display/section.tsx';
import { fieldComplaints } from '../../components/feedback/complaint.ts';
import { Failure } from '../../components/feedback/failure.tsx';
import { Loaded } from '../../components/feedback/loaded.tsx';
import { Permitted } from '../../components/feedback/permitted.tsx';
import { submitHandler } from '../../components/fields/submit-handler.ts';
import { SubmitRow } from '../../components/fields/submit-row.tsx';
import { useAction, useSubmit } from '../../queries/actions.ts';
import { client } from '../../queries/api.ts';
import { useMe } from '../../queries/organisation.ts';
import { DeleteAccount } from './deletion.tsx';
import { Download } from './download.tsx';
import { isWrongPassword, OwnPassword } from './own-password.tsx';
import { passwordHint } from './recovery.tsx';
import { useStepUp } from './step-up.tsx';

// An account whose e-mail address is not verified.
export function Unverified() {
  const { data: me } = useMe();
  const send = useAction(() => client.accounts.sendVerification(), {
    done: 'The e-mail is on its way.',
  });
  if (!me || me.emailVerified || me.madeFor !== undefined) return null;
  return (
    <Alert color="yellow" title="Verify your e-mail address">
      <Group justify="space-between">
        <Text size="sm" className="stak-break">
          Open the link that we sent to {me.email}.
        </Text>
        <Button size="xs" variant="default" loading={send.isPending} onClick={() => send.mutate()}>
          Send the e-mail again
        </Button>
      </Group>
    </Alert>
  );
}

export function Profile() {
  const me = useMe();
  return (
    <Loaded query={me}>
      {({ name, email, hasPassword, mails }) => (
        <SimpleGrid cols={{ base: 1, md: 3 }}>
          <NameForm name={name} />
          <EmailForm email={email} hasPassword={hasPassword} />
          <PasswordForm hasPassword={hasPassword} />
          <MailSwitches mails={mails} />
          <Permitted to="accounts.download">
            <Download />
          </Permitted>
          <DeleteAccount email={email} hasPassword={hasPassword} />
        </SimpleGrid>
      )}
    </Loaded>
  );
}

type FormProps = {
  title: string;
  button: string;
  isBusy: boolean;
  error: unknown; // errors that belong to no field
  onSubmit: (text: (name: string) => string, form: HTMLFormElement) => void;
  children: ReactNode;
};

function FormCard({ title, button, isBusy, error, onSubmit, children }: FormProps) {
  return (
    <Card withBorder component="section" aria-label={title}>
      <form onSubmit={submitHandler(onSubmit)}>
        <Stack>
          <Heading>{title}</Heading>
          {Boolean(error) && <Failure error={error} />}
          {children}
          <SubmitRow variant="default" isBusy={isBusy}>
            {button}
          </SubmitRow>
        </Stack>
      </form>
    </Card>
  );
}

function NameForm({ name }: { name: string }) {
  const change = useSubmit((next: string) => client.accounts.updateMe({ body: { name: next } }), {
    done: 'Your name is changed.',
    refreshes: [['me']],
  });
  const complaints = fieldComplaints(change.error);
  return (
    <FormCard
      title="Name"
      button="Change the name"
      isBusy={change.isPending}
      error={complaints.name === undefined && change.error}
      onSubmit={text => change.mutate(text('name'))}
    >
      <TextInput
        name="name"
        label="Your name"
        required
        maxLength={100}
        defaultValue={name}
        error={complaints.name}
      />
    </FormCard>
  );
}

function EmailForm({ email, hasPassword }: { email: string; hasPassword: boolean }) {
  const change = useSubmit((body: { email: string; password?: string }) =>
    client.accounts.changeEmail({ body }),
  );
  const complaints = fieldComplaints(change.error);
  const isAtField = complaints.email !== undefined || isWrongPassword(change.error);
  return (
    <FormCard
      title="E-mail address"
      button="Change the address"
      isBusy={change.isPending}
      error={!isAtField && change.error}
      onSubmit={(text, form) =>
        change.mutate(
          { email: text('email'), ...(hasPassword && { password: text('password') }) },
          { onSuccess: () => form.reset() },
        )
      }
    >
      <Text size="sm" className="stak-break">
        You sign in with {email}. Both addresses get an e-mail to confirm the change.
      </Text>
      {change.isSuccess && <Alert title="Check your e-mail">Confirm the change from both addresses.</Alert>}
      <TextInput name="email" type="email" label="New address" required error={complaints.email} />
      {hasPassword && <OwnPassword error={change.error} />}
    </FormCard>
  );
}

function PasswordForm({ hasPassword }: { hasPassword: boolean }) {
  const queries = useQueryClient();
  const { guard, dialog } = useStepUp();
  const change = useSubmit(
    (body: { currentPassword?: string; newPassword: string }) =>
      guard(() => client.accounts.changePassword({ body })),
    {
      done: 'Your password is changed, and your other sessions have ended.',
      onSuccess: () => queries.invalidateQueries(),
    },
  );
  const complaint = fieldComplaints(change.error).newPassword;
  const isAtField = complaint !== undefined || isWrongPassword(change.error);
  return (
    <>
      <FormCard
        title="Password"
        button={hasPassword ? 'Change the password' : 'Set a password'}
        isBusy={change.isPending}
        error={!isAtField && change.error}
        onSubmit={(text, form) =>
          change.mutate(
            { newPassword: text('next'), ...(hasPassword && { currentPassword: text('current') }) },
            { onSuccess: () => form.reset() },
          )
        }
      >
        {hasPassword && <OwnPassword name="current" label="Current password" error={change.error} />}
        <PasswordInput
          name="next"
          label="New password"
          description={passwordHint}
          required
          autoComplete="new-password"
          error={complaint}
        />
      </FormCard>
      {dialog}
    </>
  );
}

type Mails = ApiTypes['accounts.getMe']['data']['mails'];

const topics: readonly { topic: keyof Mails; label: string; description: string }[] = [
  { topic: 'deliveries', label: 'Failing deliveries', description: 'At most one e-mail an hour.' },
  { topic: 'limits', label: 'Limits of the plan', description: 'At 80% and at 100%, once a month each.' },
];

function MailSwitches({ mails }: { mails: Mails }) {
  const queries = useQueryClient();
  const change = useAction((part: Partial<Mails>) => client.accounts.updateMe({ body: { mails: part } }), {
    onSuccess: ({ data }) => queries.setQueryData(['me'], data),
  });
  return (
    <Section title="E-mail notifications">
      <Text size="sm">You always get e-mails about your sign-in and about failed payments.</Text>
      {topics.map(({ topic, label, description }) => (
        <Switch
          key={topic}
          label={label}
          description={description}
          checked={change.isPending ? (change.variables[topic] ?? mails[topic]) : mails[topic]}
          disabled={change.isPending}
          onChange={event => change.mutate({ [topic]: event.currentTarget.checked })}
        />
      ))}
    </Section>
  );
}
