import { useSubmit } from '../../queries/actions.ts';
import './lake.css';
import { Alert, Button, Group, Kbd, Stack, Text } from '@mantine/core';
import { IconPlayerPlay } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useEffectEvent, useMemo, useState } from 'react';
import { isWithoutLake, LakeFailure } from '../../components/feedback/lake-failure.tsx';
import { CodeField } from '../../components/fields/code-field.tsx';
import { SavedMenu } from '../../components/fields/saved-menu.tsx';
import { client, messageOf } from '../../queries/api.ts';
import { LakeTexts } from './lake-texts.tsx';
import { adviseOn } from './sql-advice.ts';
import { examples } from './sql-examples.ts';
import { type SqlAnswer, SqlResult } from './sql-result.tsx';
import { SqlTables, useLakeStatus } from './sql-tables.tsx';

async function ask(sql: string): Promise<SqlAnswer> {
  const startedAt = performance.now();
  const { data } = await client.lake.query({ body: { sql } });
  return { ...data, sql, tookMs: performance.now() - startedAt };
}

const route = getRouteApi('/inside/data/sql');
const inAddressMost = 2_000; // characters; some proxies reject longer URLs

// Queries over the account's own rows. The lake answers them; the tables are neither read nor changed.
export default function SqlBox() {
  const { sql: inAddress } = route.useSearch();
  const navigate = route.useNavigate();
  const [sql, setSql] = useState(inAddress ?? examples[0]!.sql);
  const query = useSubmit(ask);
  const status = useLakeStatus();
  const tables = useMemo(
    () =>
      Object.fromEntries(
        (status.data?.views ?? []).map(({ name, columns }) => [name, columns.map(column => column.name)]),
      ),
    [status.data],
  );
  const run = (text: string) => {
    // Another query replaces the one that runs, such as that of a link.
    if (text.trim() === '' || (query.isPending && query.variables === text)) return;
    query.mutate(text);
    void navigate({ search: text.length > inAddressMost ? {} : { sql: text }, replace: true });
  };
  // Somebody who opens a link to a query wants its answer. A query can only read rows that they may read anyway.
  const openLink = useEffectEvent(() => run(inAddress ?? ''));
  useEffect(() => openLink(), []);
  const pick = (text: string) => {
    setSql(text);
    run(text);
  };
  return (
    <div className="stak-sql">
      <Stack gap="sm" miw={0}>
        <Group gap="xs" role="group" aria-label="Examples">
          {examples.map(example => (
            <Button
              key={example.label}
              size="compact-sm"
              variant="default"
              radius="xl"
              fw={400}
              onClick={() => pick(example.sql)}
            >
              {example.label}
            </Button>
          ))}
        </Group>
        <CodeField
          label="SQL"
          isLabelHidden
          language="sql"
          placeholder="select … from tasks"
          value={sql}
          onChange={setSql}
          onRun={run}
          tables={tables}
          minRows={7}
        />
        <Group justify="space-between">
          <Group gap="xs" visibleFrom="xs">
            <Kbd size="xs">Ctrl</Kbd>
            <Kbd size="xs">Enter</Kbd>
            <Text size="sm" c="dimmed">
              runs it. Queries can only read, in DuckDB’s dialect.
            </Text>
          </Group>
          <Group gap="xs">
            <SavedMenu
              kind="sql"
              what="query"
              label="Saved queries"
              saveLabel="Save this query"
              text={sql.trim() === '' ? undefined : sql}
              onPick={pick}
            />
            <Button
              leftSection={<IconPlayerPlay size={16} />}
              loading={query.isPending}
              disabled={sql.trim() === ''}
              onClick={() => run(sql)}
            >
              Run
            </Button>
          </Group>
        </Group>
        {query.error && <Refusal error={query.error} />}
        {query.data && !query.error && <SqlResult answer={query.data} />}
      </Stack>
      <Stack gap="sm" miw={0}>
        <SqlTables onPick={pick} />
        {status.data && <LakeTexts />}
      </Stack>
    </div>
  );
}

function Refusal({ error }: { error: unknown }) {
  if (isWithoutLake(error)) return <LakeFailure error={error} />;
  const advice = adviseOn(error);
  return (
    <Alert color="red" role="alert" title="The query did not work">
      <Text size="sm" className="stak-mono stak-lines">
        {messageOf(error)}
      </Text>
      {advice && (
        <Text size="sm" mt="xs">
          {advice}
        </Text>
      )}
    </Alert>
  );
}
