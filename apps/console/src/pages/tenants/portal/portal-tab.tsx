import { Alert, Anchor, Button, Card, Code, Group, Stack, Text } from '@mantine/core';
import { IconExternalLink } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Heading } from '../../../components/display/section.tsx';
import { Loaded } from '../../../components/feedback/loaded.tsx';
import { CopyIcon } from '../../../components/fields/copy.tsx';
import { portalKey, settingsKey, usePortal, useSettings } from '../../../queries/tenants.ts';
import { portalAddress } from './portal-address.ts';
import { PortalForm } from './portal-form.tsx';
import { PortalProvider } from './portal-provider.tsx';

/** The page for the users of a tenant: where it is, how they sign in, and how it looks. */
export function PortalTab({ tenant_id }: { tenant_id: string }) {
  const queries = useQueryClient();
  const settings = useSettings(tenant_id);
  const [round, setRound] = useState(0); // a new form when it was saved, or the user asks for the saved version
  const readAgain = async () => {
    await queries.refetchQueries({ queryKey: settingsKey(tenant_id) });
    await queries.invalidateQueries({ queryKey: portalKey(tenant_id) });
    setRound(old => old + 1);
  };
  return (
    <Stack>
      <Address tenant_id={tenant_id} />
      <Loaded query={settings}>
        {read => <PortalForm key={round} tenant_id={tenant_id} read={read} onSaved={readAgain} />}
      </Loaded>
      <PortalProvider tenant_id={tenant_id} />
    </Stack>
  );
}

function Address({ tenant_id }: { tenant_id: string }) {
  const portal = usePortal(tenant_id);
  const address = portalAddress(location.origin, tenant_id);
  return (
    <Card withBorder component="section" aria-label="Address">
      <Stack gap="sm">
        <div>
          <Heading>The portal</Heading>
          <Text c="dimmed" size="sm">
            A page for this tenant’s users: chat, inboxes, tasks and what is remembered about them.{' '}
            <Anchor href="/docs/guides/portal" inherit underline="always">
              How to embed it
            </Anchor>
          </Text>
        </div>
        <Group gap="xs">
          <Code className="stak-mono stak-break">{address}</Code>
          <CopyIcon value={address} label="Copy the address of the portal" />
          <Button
            component="a"
            href={address}
            target="_blank"
            rel="noopener"
            variant="default"
            size="compact-sm"
            rightSection={<IconExternalLink size={14} aria-hidden />}
          >
            Open the portal
          </Button>
        </Group>
        {portal.data === null && (
          <Alert color="yellow" title="Nobody can sign in there yet">
            Your own pages can open it with a token. Let users sign in with a mailed code, or through the
            tenant’s provider, below.
          </Alert>
        )}
      </Stack>
    </Card>
  );
}
