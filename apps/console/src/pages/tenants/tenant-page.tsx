import '../agents/agents.css';
import { Alert, Group, Stack, Tabs, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { Loaded } from '../../components/loaded.tsx';
import { isMissing, Missing } from '../../components/nothing-here.tsx';
import { StatusBadge } from '../../components/status-badge.tsx';
import { TextLink } from '../../components/text-link.tsx';
import { client } from '../../queries/api.ts';
import { type Tenant, tenantKey } from '../../queries/tenants.ts';
import { usePageTitle } from '../../shell/page-title.ts';
import { Channels } from '../agents/channels/channels.tsx';
import { Chat } from '../agents/chat/chat.tsx';
import { MemoryOfUsers } from '../agents/memory/memory.tsx';
import { Skills } from '../agents/skills/skills.tsx';
import { UsageTab } from '../agents/usage.tsx';
import { type Go, type Tab, type TenantSearch, tabs } from './address.ts';
import { SettingsTab } from './settings.tsx';
import { TenantActions } from './tenant-actions.tsx';
import { Users } from './users.tsx';

const route = getRouteApi('/inside/agents/$tenant');

export function TenantPage() {
  const { tenant: tenant_id } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const go: Go = to => void navigate({ search: to });
  const tenant = useQuery({
    queryKey: tenantKey(tenant_id),
    queryFn: async () => (await client.tenants.get({ tenant_id })).data,
  });
  usePageTitle(titles[search.tab ?? 'chat'], tenant.data?.name ?? 'Tenant');
  if (isMissing(tenant.error))
    return (
      <Missing
        title="There is no such tenant"
        text="It may have been deleted, or it belongs to another account."
      >
        <TextLink to="/agents">Go to all tenants</TextLink>
      </Missing>
    );
  return (
    <Stack gap="sm">
      <TextLink to="/agents" size="sm">
        ← Agents
      </TextLink>
      <Loaded query={tenant}>
        {found => (
          <>
            <Group justify="space-between" wrap="nowrap">
              <Group gap="sm" miw={0}>
                <Title order={2} className="stak-break">
                  {found.name}
                </Title>
                <StatusBadge status={found.status} />
              </Group>
              <TenantActions tenant={found} />
            </Group>
            <TenantTabs key={tenant_id} tenant={found} search={search} go={go} />
          </>
        )}
      </Loaded>
    </Stack>
  );
}

const titles: Readonly<Record<Tab, string>> = {
  chat: 'Chat',
  usage: 'Usage',
  memory: 'Memory',
  users: 'Users',
  channels: 'Channels',
  skills: 'Skills',
  settings: 'Settings',
};

type Props = { tenant: Tenant; search: TenantSearch; go: Go };

function TenantTabs({ tenant: { tenant_id, status }, search, go }: Props) {
  const chosen = search.tab ?? 'chat';
  const list = useRef<HTMLDivElement>(null);
  // On a phone it may lie beyond the edge.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another tab is another place
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [chosen]);
  if (status === 'suspended')
    return (
      <Alert color="orange" title="This tenant is suspended">
        <Text size="sm">
          Its users are refused and its channels are silent, and nothing here can be changed. Activate it to
          go on.
        </Text>
      </Alert>
    );
  const show = (tab: Tab) => {
    if (tab === 'chat') return <Chat tenant_id={tenant_id} search={search} go={go} />;
    if (tab === 'usage') return <UsageTab tenant_id={tenant_id} />;
    if (tab === 'memory') return <MemoryOfUsers tenant_id={tenant_id} user={search.user} go={go} />;
    if (tab === 'users') return <Users tenant_id={tenant_id} go={go} />;
    if (tab === 'channels') return <Channels tenant_id={tenant_id} status={status} />;
    if (tab === 'skills') return <Skills tenant_id={tenant_id} />;
    return <SettingsTab tenant_id={tenant_id} />;
  };
  return (
    <Tabs value={chosen} onChange={tab => go({ tab: (tab ?? 'chat') as Tab })} keepMounted={false}>
      <Tabs.List ref={list} className="agents-tabs">
        {tabs.map(tab => (
          <Tabs.Tab key={tab} value={tab}>
            {titles[tab]}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {tabs.map(tab => (
        <Tabs.Panel key={tab} value={tab} pt="md">
          {show(tab)}
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}
