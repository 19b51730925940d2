import './tables.css';
import { Badge, Group, Stack, Tabs, Text, Title } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { TabList } from '../../components/display/tab-list.tsx';
import { Loaded } from '../../components/feedback/loaded.tsx';
import { isMissing, Missing } from '../../components/feedback/nothing-here.tsx';
import { TextLink } from '../../components/feedback/text-link.tsx';
import { usePageTitle } from '../../shell/page-title.ts';
import { withCapital } from '../../text/capital.ts';
import { counted, formatBytes, formatNumber } from '../../text/format.ts';
import { ChangeList } from './change-list.tsx';
import { useChanges } from './changes.ts';
import { Design } from './design.tsx';
import { Items } from './items.tsx';
import { OperatorsOnly } from './operators-only.tsx';
import { Patterns } from './patterns.tsx';
import { type TableDetails, type TableSearch, useIsOperator, useTable } from './queries.ts';

const route = getRouteApi('/inside/tables/$table');

export function TablePage() {
  const { table } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const details = useTable(table);
  usePageTitle(table, 'Tables');
  const isOperator = useIsOperator();
  if (isMissing(details.error))
    return isOperator ? (
      <Missing title="There is no such table" text={`This server has no table called ${table}.`}>
        <TextLink to="/tables">Go to all tables</TextLink>
      </Missing>
    ) : (
      <OperatorsOnly />
    );
  return (
    <Stack>
      <TextLink to="/tables" size="sm">
        ← Tables
      </TextLink>
      <Loaded query={details}>
        {found => (
          <TableView key={table} table={found} search={search} go={to => void navigate({ search: to })} />
        )}
      </Loaded>
    </Stack>
  );
}

type Props = { table: TableDetails; search: TableSearch; go: (to: TableSearch) => void };

function TableView({ table, search, go }: Props) {
  const [live, clear] = useChanges(table.name, table.stream !== null);
  const tab = search.tab ?? 'items';
  return (
    <>
      <div>
        <Title order={2} className="stak-break">
          {table.name}
        </Title>
        <Text c="dimmed">{table.description}</Text>
      </div>
      <Facts table={table} />
      <Tabs value={tab} onChange={value => go({ ...search, tab: value ?? 'items' })} keepMounted={false}>
        <TabList chosen={tab}>
          <Tabs.Tab value="items">Items</Tabs.Tab>
          <Tabs.Tab value="design">Design</Tabs.Tab>
          <Tabs.Tab value="units">Units</Tabs.Tab>
          <Tabs.Tab
            value="stream"
            rightSection={
              live.count > 0 ? (
                <Badge size="xs" variant="default">
                  {formatNumber(live.count)}
                </Badge>
              ) : undefined
            }
          >
            Stream
          </Tabs.Tab>
        </TabList>
        <Tabs.Panel value="items" pt="md">
          <Items table={table} search={search} go={go} changes={live.count} />
        </Tabs.Panel>
        <Tabs.Panel value="design" pt="md">
          <Design table={table} />
        </Tabs.Panel>
        <Tabs.Panel value="units" pt="md">
          <Patterns table={table} />
        </Tabs.Panel>
        <Tabs.Panel value="stream" pt="md">
          <ChangeList table={table} live={live} onClear={clear} />
        </Tabs.Panel>
      </Tabs>
    </>
  );
}

function Facts({ table }: { table: TableDetails }) {
  const { keys, ttl, ttl_status, stream, items, bytes, status } = table;
  const facts = [
    status.toLowerCase(),
    `${counted(items, 'item')}, ${formatBytes(bytes)}`,
    keys.sort === null ? `key ${keys.partition}` : `keys ${keys.partition} and ${keys.sort}`,
    ttl === null
      ? 'nothing expires'
      : `expires by ${ttl}${ttl_status === 'ENABLED' ? '' : ', which is not enabled'}`,
    stream === null ? 'no stream' : `stream of ${stream.toLowerCase().replaceAll('_', ' ')}`,
  ];
  return (
    <Group gap="xs">
      {facts.map(fact => (
        <Badge key={fact} variant="default" fw={500}>
          {withCapital(fact)}
        </Badge>
      ))}
    </Group>
  );
}
