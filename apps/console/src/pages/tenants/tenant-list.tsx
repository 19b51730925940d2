import { Button, Card, Group, Modal, Stack, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { More, usePages } from '../../components/display/pages.tsx';
import { Loaded } from '../../components/feedback/loaded.tsx';
import { Permitted } from '../../components/feedback/permitted.tsx';
import { client } from '../../queries/api.ts';
import { type Tenant, tenantsKey } from '../../queries/tenants.ts';
import { usePageTitle } from '../../shell/page-title.ts';
import { TenantForm } from '../inbox/tenant-form.tsx';

type Props = {
  title: string;
  about: string;
  table: (rows: Tenant[]) => ReactNode;
  onMade: (tenant: string) => void;
};

/** A list of all tenants, with a button to create one. */
export function TenantList({ title, about, table, onMade }: Props) {
  usePageTitle(title);
  const [isOpen, { open, close }] = useDisclosure(false);
  const tenants = usePages([...tenantsKey, 'pages'], cursor => client.tenants.list({ limit: 50, ...cursor }));
  return (
    <Stack>
      <Group justify="space-between">
        <Title order={2}>{title}</Title>
        <Permitted to="tenants.create">
          <Button data-create leftSection={<IconPlus size={16} />} onClick={open}>
            New tenant
          </Button>
        </Permitted>
      </Group>
      <Text c="dimmed" size="sm" maw={640}>
        {about}
      </Text>
      <Loaded query={tenants}>{rows => <Card withBorder>{table(rows)}</Card>}</Loaded>
      <More of={tenants} label="More tenants" />
      <Modal opened={isOpen} onClose={close} title="New tenant">
        <TenantForm onMade={onMade} />
      </Modal>
    </Stack>
  );
}
