import { PasswordInput, Progress, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { Section } from '../../components/display/section.tsx';
import { Failure } from '../../components/feedback/failure.tsx';
import { saveFile } from '../../components/fields/saved-file.ts';
import { submitHandler } from '../../components/fields/submit-handler.ts';
import { SubmitRow } from '../../components/fields/submit-row.tsx';
import { useSubmit } from '../../queries/actions.ts';
import { countedClient, unhurried } from '../../queries/counted-client.ts';
import { formatBytes } from '../../text/format.ts';

export function Download() {
  const [received, setReceived] = useState(0);
  const download = useSubmit(async (passphrase: string) => {
    setReceived(0);
    const { data } = await countedClient(setReceived).accounts.download({ body: { passphrase } }, unhurried);
    saveFile('stak-account.tar', data as Uint8Array<ArrayBuffer>);
  });
  const start = submitHandler(text => download.mutate(text('passphrase')));
  return (
    <Section title="Download everything">
      <Text size="sm">
        All data of this account and its tenants in one file, for your records or for another server. Secrets
        in it are sealed with a passphrase, which is stored nowhere.
      </Text>
      <form onSubmit={start}>
        <Stack>
          <PasswordInput
            name="passphrase"
            label="Passphrase"
            description="At least 12 characters"
            minLength={12}
            maxLength={200}
            required
            autoComplete="new-password"
          />
          <SubmitRow variant="default" isBusy={download.isPending}>
            Download
          </SubmitRow>
        </Stack>
      </form>
      {download.isPending && <Progress value={100} animated aria-label="Download under way" />}
      {(download.isPending || download.isSuccess) && (
        <Text size="sm" role="status">
          {formatBytes(received)} received{download.isSuccess && '. The file is complete.'}
        </Text>
      )}
      {download.isError && <Failure error={download.error} />}
    </Section>
  );
}
