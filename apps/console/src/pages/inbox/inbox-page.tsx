import '@stak/inbox-react/styles.css';
import './inbox.css';
import { Group, Select, SimpleGrid, Stack, Tabs, Text, Title } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { TabList } from '../../components/display/tab-list.tsx';
import { Together } from '../../components/display/together.tsx';
import { Loaded } from '../../components/feedback/loaded.tsx';
import { Permitted } from '../../components/feedback/permitted.tsx';
import { useTenants } from '../../queries/tenants.ts';
import { usePageTitle } from '../../shell/page-title.ts';
import { Compose } from './compose.tsx';
import { Categories, DeleteInbox, InboxProgress } from './deletions.tsx';
import { NewTenant } from './first-steps.tsx';
import { InboxSettings } from './inbox-settings.tsx';
import { NewInbox } from './new-inbox.tsx';
import { type Inbox, type InboxSearch, useInboxes } from './queries.ts';
import { Sends } from './sends.tsx';
import { TenantSettings } from './tenant-settings.tsx';
import { UserInbox } from './user-inbox.tsx';

const route = getRouteApi('/inside/inbox');

export function InboxPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const go = (to: InboxSearch) => void navigate({ search: to, replace: true });
  const tenants = useTenants();
  usePageTitle('Inbox', tenants.data?.find(one => one.tenant_id === search.tenant)?.name);
  return (
    <Stack>
      <Title order={2}>Inbox</Title>
      <Loaded query={tenants}>
        {all => {
          const tenant = all.find(one => one.tenant_id === search.tenant) ?? all[0];
          if (!tenant)
            return (
              <Permitted to="tenants.create" otherwise={<Text c="dimmed">There is no tenant yet.</Text>}>
                <NewTenant />
              </Permitted>
            );
          return (
            <TenantInboxes
              key={tenant.tenant_id}
              tenant_id={tenant.tenant_id}
              search={search}
              go={go}
              tenants={all.map(one => ({ value: one.tenant_id, label: one.name }))}
            />
          );
        }}
      </Loaded>
    </Stack>
  );
}

// Open details belong to one inbox and one tab.
const withoutSend = ({ send: _, ...search }: InboxSearch): InboxSearch => search;

type Choice = { value: string; label: string };

function TenantInboxes({
  tenant_id,
  tenants,
  search,
  go,
}: {
  tenant_id: string;
  tenants: Choice[];
  search: InboxSearch;
  go: (to: InboxSearch) => void;
}) {
  const inboxes = useInboxes(tenant_id);
  const chooseTenant = (
    <Select
      label="Tenant"
      data={tenants}
      value={tenant_id}
      allowDeselect={false}
      searchable
      flex="1 1 140px"
      maw={240}
      onChange={tenant => tenant !== null && go({ tenant })}
    />
  );
  const { deleted, ...others } = search;
  const goToInbox = (inbox: string) => go({ ...withoutSend(search), tenant: tenant_id, inbox });
  const progress = deleted !== undefined && (
    <InboxProgress
      key={deleted}
      inboxPath={{ tenant_id, inbox_key: deleted }}
      onClose={() => go({ ...others, tenant: tenant_id })}
    />
  );
  return (
    <Loaded query={inboxes}>
      {all => {
        const inbox = all.find(one => one.inbox_key === search.inbox) ?? all[0];
        if (!inbox)
          return (
            <>
              {progress}
              <Group>{chooseTenant}</Group>
              <Permitted
                to="inbox.writeInbox"
                otherwise={<Text c="dimmed">This tenant has no inbox yet.</Text>}
              >
                <NewInbox tenant_id={tenant_id} isFirst onMade={goToInbox} />
              </Permitted>
            </>
          );
        return (
          <>
            {progress}
            <Group align="end">
              {chooseTenant}
              <Select
                label="Inbox"
                data={all.map(one => ({ value: one.inbox_key, label: one.title || one.inbox_key }))}
                value={inbox.inbox_key}
                allowDeselect={false}
                flex="1 1 140px"
                maw={240}
                onChange={key => key !== null && goToInbox(key)}
              />
              <Permitted to="inbox.writeInbox">
                <NewInbox tenant_id={tenant_id} onMade={goToInbox} />
              </Permitted>
            </Group>
            <InboxTabs
              key={`${tenant_id}/${inbox.inbox_key}`}
              tenant_id={tenant_id}
              inbox={inbox}
              search={{ ...search, tenant: tenant_id, inbox: inbox.inbox_key }}
              go={go}
            />
          </>
        );
      }}
    </Loaded>
  );
}

function InboxTabs({
  tenant_id,
  inbox,
  search,
  go,
}: {
  tenant_id: string;
  inbox: Inbox;
  search: InboxSearch;
  go: (to: InboxSearch) => void;
}) {
  const tab = search.tab ?? 'messages';
  const inboxPath = { tenant_id, inbox_key: inbox.inbox_key };
  return (
    <Tabs
      value={tab}
      onChange={value => go({ ...withoutSend(search), tab: value ?? 'messages' })}
      keepMounted={false}
    >
      <TabList chosen={tab}>
        <Tabs.Tab value="messages">Messages</Tabs.Tab>
        <Tabs.Tab value="sent">Sent</Tabs.Tab>
        <Tabs.Tab value="settings">Settings</Tabs.Tab>
      </TabList>
      <Tabs.Panel value="messages" pt="md">
        <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="lg" style={{ alignItems: 'start' }}>
          <Compose inboxPath={inboxPath} inbox={inbox} />
          <UserInbox inboxPath={inboxPath} user={search.user} onUser={user => go({ ...search, user })} />
        </SimpleGrid>
      </Tabs.Panel>
      <Tabs.Panel value="sent" pt="md">
        <Sends
          inboxPath={inboxPath}
          opened={search.send}
          onOpen={send => go({ ...withoutSend(search), ...(send !== undefined && { send }) })}
        />
      </Tabs.Panel>
      <Tabs.Panel value="settings" pt="md">
        <Together>
          <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="lg" style={{ alignItems: 'start' }}>
            <InboxSettings inboxPath={inboxPath} />
            <Stack>
              <TenantSettings tenant_id={tenant_id} />
              <Categories inboxPath={inboxPath} />
              <Permitted to="inbox.deleteInbox">
                <DeleteInbox
                  inboxPath={inboxPath}
                  title={inbox.title || inbox.inbox_key}
                  onDeleted={() => go({ tenant: tenant_id, deleted: inboxPath.inbox_key })}
                />
              </Permitted>
            </Stack>
          </SimpleGrid>
        </Together>
      </Tabs.Panel>
    </Tabs>
  );
}
