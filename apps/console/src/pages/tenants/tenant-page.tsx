import { useAnswer } from '../../queries/answers.ts';
import '../agents/agents.css';
import { Alert, Button, Group, Stack, Tabs, Text, Title } from '@mantine/core';
import { IconBuildingStore, IconMessageChatbot } from '@tabler/icons-react';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { StatusBadge } from '../../components/display/status-badge.tsx';
import { TabList } from '../../components/display/tab-list.tsx';
import { Together } from '../../components/display/together.tsx';
import { Loaded } from '../../components/feedback/loaded.tsx';
import { isMissing, Missing } from '../../components/feedback/nothing-here.tsx';
import { TextLink } from '../../components/feedback/text-link.tsx';
import { client } from '../../queries/api.ts';
import { type Tenant, tenantKey } from '../../queries/tenants.ts';
import { usePageTitle } from '../../shell/page-title.ts';
import { Channels } from '../agents/channels/channels.tsx';
import { Chat } from '../agents/chat/chat.tsx';
import { MemoryOfUsers } from '../agents/memory/memory.tsx';
import { AgentsTab } from '../agents/named/agents-tab.tsx';
import { Skills } from '../agents/skills/skills.tsx';
import { UsageTab } from '../agents/usage.tsx';
import { agentTabs, type Go, isTenantTab, type Tab, type TenantSearch, tenantTabs } from './address.ts';
import { PortalTab } from './portal/portal-tab.tsx';
import { SettingsTab } from './settings.tsx';
import { TenantActions } from './tenant-actions.tsx';
import { Tokens } from './tokens.tsx';
import { Users } from './users.tsx';

const titles: Readonly<Record<Tab, string>> = {
  chat: 'Chat',
  agents: 'Agents',
  usage: 'Usage',
  memory: 'Memory',
  channels: 'Channels',
  skills: 'Skills',
  users: 'Users',
  portal: 'Portal',
  tokens: 'Tokens',
  settings: 'Settings',
};

export const AgentPage = () => <PageOfTenant tabs={agentTabs} list="/agents" listLabel="Agents" />;
export const TenantPage = () => <PageOfTenant tabs={tenantTabs} list="/tenants" listLabel="Tenants" />;

type PageProps = { tabs: readonly Tab[]; list: '/agents' | '/tenants'; listLabel: string };

function PageOfTenant({ tabs, list, listLabel }: PageProps) {
  const { tenant: tenant_id } = useParams({ strict: false }) as { tenant: string };
  const search = useSearch({ strict: false }) as TenantSearch;
  const chosen = tabs.find(tab => tab === search.tab) ?? tabs[0]!;
  const navigate = useNavigate();
  const go: Go = to =>
    void navigate({
      to: isTenantTab(to.tab) ? '/tenants/$tenant' : '/agents/$tenant',
      params: { tenant: tenant_id },
      search: to,
    });
  const tenant = useAnswer(tenantKey(tenant_id), () => client.tenants.get({ tenant_id }));
  usePageTitle(titles[chosen], tenant.data?.name ?? 'Tenant');
  if (isMissing(tenant.error))
    return (
      <Missing
        title="There is no such tenant"
        text="It may have been deleted, or it belongs to another account."
      >
        <TextLink to="/tenants">Go to all tenants</TextLink>
      </Missing>
    );
  return (
    <Stack gap="sm">
      <TextLink to={list} size="sm">
        ← {listLabel}
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
              <Group gap="xs" wrap="nowrap">
                {list === '/agents' ? (
                  <OtherPage
                    label="Users and settings"
                    icon={<IconBuildingStore size={16} aria-hidden />}
                    onClick={() => go({ tab: 'users' })}
                  />
                ) : (
                  <OtherPage
                    label="Talk to its agent"
                    icon={<IconMessageChatbot size={16} aria-hidden />}
                    onClick={() => go({})}
                  />
                )}
                <TenantActions tenant={found} />
              </Group>
            </Group>
            <TenantTabs key={tenant_id} tabs={tabs} chosen={chosen} tenant={found} search={search} go={go} />
          </>
        )}
      </Loaded>
    </Stack>
  );
}

const OtherPage = ({ label, icon, onClick }: { label: string; icon: ReactNode; onClick: () => void }) => (
  <Button variant="default" leftSection={icon} visibleFrom="sm" onClick={onClick}>
    {label}
  </Button>
);

type Props = { tabs: readonly Tab[]; chosen: Tab; tenant: Tenant; search: TenantSearch; go: Go };

function TenantTabs({ tabs, chosen, tenant: { tenant_id, status }, search, go }: Props) {
  if (status === 'suspended')
    return (
      <Alert color="orange" title="This tenant is suspended">
        <Text size="sm">
          Its users are refused, its channels do not answer, and nothing here can be changed. Activate it to
          continue.
        </Text>
      </Alert>
    );
  const panels: Readonly<Record<Tab, () => ReactNode>> = {
    chat: () => <Chat tenant_id={tenant_id} search={search} go={go} />,
    agents: () => <AgentsTab tenant_id={tenant_id} agent={search.agent} go={go} />,
    usage: () => <UsageTab tenant_id={tenant_id} />,
    memory: () => <MemoryOfUsers tenant_id={tenant_id} user={search.user} go={go} />,
    channels: () => <Channels tenant_id={tenant_id} status={status} />,
    skills: () => <Skills tenant_id={tenant_id} />,
    users: () => <Users tenant_id={tenant_id} go={go} />,
    portal: () => <PortalTab tenant_id={tenant_id} />,
    tokens: () => <Tokens tenant_id={tenant_id} user={search.user} />,
    settings: () => <SettingsTab tenant_id={tenant_id} />,
  };
  return (
    <Tabs value={chosen} onChange={tab => go({ tab: (tab ?? tabs[0]) as Tab })} keepMounted={false}>
      <TabList chosen={chosen}>
        {tabs.map(tab => (
          <Tabs.Tab key={tab} value={tab}>
            {titles[tab]}
          </Tabs.Tab>
        ))}
      </TabList>
      {tabs.map(tab => (
        <Tabs.Panel key={tab} value={tab} pt="md">
          {tab === 'chat' ? panels.chat() : <Together>{panels[tab]()}</Together>}
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}
