import { Button, Card, Group, Stack, Text, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Heading } from '../../components/display/section.tsx';
import { Failure } from '../../components/feedback/failure.tsx';
import { Permitted } from '../../components/feedback/permitted.tsx';
import { submitHandler } from '../../components/fields/submit-handler.ts';
import { SubmitRow } from '../../components/fields/submit-row.tsx';
import { useSubmit } from '../../queries/actions.ts';
import { session } from '../../queries/api.ts';
import { useOrganisation } from '../../queries/organisation.ts';
import { useAuditDownload } from './audit.tsx';
import { isWrongPassword, OwnPassword } from './own-password.tsx';
import { useStepUp } from './step-up.tsx';

// Offers a download first, and asks to type the address, so that nobody deletes an account by accident.
export function DeleteAccount({ email, hasPassword }: { email: string; hasPassword: boolean }) {
  const navigate = useNavigate();
  const download = useAuditDownload();
  const { data: organisation } = useOrganisation();
  const { guard, dialog } = useStepUp();
  const [typed, setTyped] = useState<string>();
  const remove = useSubmit(
    (password: string) => guard(() => session.deleteAccount(hasPassword ? password : undefined)),
    { onSuccess: () => navigate({ to: '/sign-in' }) },
  );
  const submit = submitHandler(text => {
    setTyped(text('email'));
    if (text('email').trim().toLowerCase() === email) remove.mutate(text('password'));
  });
  const isOtherAddress = typed !== undefined && typed.trim().toLowerCase() !== email;
  const isWrong = isWrongPassword(remove.error);
  return (
    <Card withBorder component="section" aria-label="Delete the account">
      <form onSubmit={submit}>
        <Stack>
          <Heading>Delete the account</Heading>
          <Text size="sm">
            You are signed out everywhere, your keys stop working, and everything that is yours alone is
            deleted: this cannot be undone. Organisations that others own continue without you. Download what
            you want to keep first.
          </Text>
          {organisation && (
            <Permitted to="accounts.exportAudit">
              <Group>
                <Button variant="default" loading={download.isPending} onClick={() => download.mutate()}>
                  Download the audit trail of {organisation.name}
                </Button>
              </Group>
            </Permitted>
          )}
          {remove.error !== null && !isWrong && <Failure error={remove.error} />}
          <TextInput
            name="email"
            type="email"
            label="Your address, to confirm"
            placeholder={email}
            required
            autoComplete="off"
            error={isOtherAddress && 'This is not the address of this account.'}
          />
          {hasPassword && <OwnPassword error={remove.error} />}
          <SubmitRow variant="light" color="red" isBusy={remove.isPending}>
            Delete the account
          </SubmitRow>
        </Stack>
      </form>
      {dialog}
    </Card>
  );
}
