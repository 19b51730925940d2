import { Button, Card, Group, PasswordInput, Progress, Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { Failure } from '../../components/feedback/failure.tsx';
import { saveFile } from '../../components/fields/saved-file.ts';
import { submitHandler } from '../../components/submit-handler.ts';
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
    <Card withBorder component="section" aria-label="Download everything">
      <Stack>
        <Title order={3} size="h4">
          Download everything
        </Title>
        <Text size="sm">
          All data of this account and its tenants in one file, for your records or for another server.
          Secrets in it are sealed with a passphrase, which is stored nowhere.
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
            <Group justify="end">
              <Button type="submit" variant="default" loading={download.isPending}>
                Download
              </Button>
            </Group>
          </Stack>
        </form>
        {download.isPending && <Progress value={100} animated aria-label="Download under way" />}
        {(download.isPending || download.isSuccess) && (
          <Text size="sm" role="status">
            {formatBytes(received)} received{download.isSuccess && '. The file is complete.'}
          </Text>
        )}
        {download.isError && <Failure error={download.error} />}
      </Stack>
    </Card>
  );
}
