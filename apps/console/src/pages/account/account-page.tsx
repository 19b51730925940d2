import { Stack, Tabs, Text, Title } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { TabList } from '../../components/display/tab-list.tsx';
import { Together } from '../../components/display/together.tsx';
import { Permitted } from '../../components/feedback/permitted.tsx';
import { useMe } from '../../queries/organisation.ts';
import { useMay } from '../../queries/permissions.ts';
import { usePageTitle } from '../../shell/page-title.ts';
import { type AccountTab, accountTabs } from './address.ts';
import { ApiKeys } from './api-keys.tsx';
import { AuditTrail } from './audit.tsx';
import { Billing } from './billing.tsx';
import { Members } from './members.tsx';
import { Profile, Unverified } from './profile.tsx';
import { Security } from './security.tsx';
import { Sessions } from './sessions.tsx';

const route = getRouteApi('/inside/account');
const tabNames: Readonly<Record<AccountTab, string>> = {
  keys: 'API keys',
  members: 'Members',
  billing: 'Plan and billing',
  profile: 'Profile',
  security: 'Security',
  sessions: 'Sessions',
  audit: 'Audit trail',
};

export function AccountPage() {
  const me = useMe();
  const { tab = 'keys' } = route.useSearch();
  return (
    <Stack>
      <Title order={2}>{tabNames[tab]}</Title>
      {tab === 'profile' && <Unverified />}
      {/* The notice above would move what is there before it. */}
      {!me.isPending && <Settings />}
    </Stack>
  );
}

const belowTabs = { base: 'md', sm: 0 };

function Settings() {
  const { tab = 'keys' } = route.useSearch();
  const navigate = route.useNavigate();
  const may = useMay();
  usePageTitle(tabNames[tab], 'Settings');
  return (
    <Tabs
      value={tab}
      keepMounted={false}
      onChange={next => navigate({ search: { tab: next as typeof tab }, replace: true })}
    >
      {/* On wider screens the navigation lists the same pages. */}
      <TabList chosen={tab} hiddenFrom="sm">
        {accountTabs
          .filter(name => name !== 'audit' || may('accounts.listAudit'))
          .map(name => (
            <Tabs.Tab key={name} value={name}>
              {tabNames[name]}
            </Tabs.Tab>
          ))}
      </TabList>
      <Tabs.Panel value="keys" pt={belowTabs}>
        <ApiKeys />
      </Tabs.Panel>
      <Tabs.Panel value="members" pt={belowTabs}>
        <Members />
      </Tabs.Panel>
      <Tabs.Panel value="billing" pt={belowTabs}>
        <Billing />
      </Tabs.Panel>
      <Tabs.Panel value="profile" pt={belowTabs}>
        <Profile />
      </Tabs.Panel>
      <Tabs.Panel value="security" pt={belowTabs}>
        <Together>
          <Security />
        </Together>
      </Tabs.Panel>
      <Tabs.Panel value="sessions" pt={belowTabs}>
        <Sessions />
      </Tabs.Panel>
      <Tabs.Panel value="audit" pt={belowTabs}>
        <Permitted
          to="accounts.listAudit"
          otherwise={<Text c="dimmed">Admins and owners see the audit trail.</Text>}
        >
          <AuditTrail />
        </Permitted>
      </Tabs.Panel>
    </Tabs>
  );
}
