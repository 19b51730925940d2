import { Alert, Button, Group, Kbd, Stack, Text, Textarea } from '@mantine/core';
import { IconPlayerPlay } from '@tabler/icons-react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { KeyboardEvent } from 'react';
import { isWithoutLake, LakeFailure } from '../../components/lake-failure.tsx';
import { client, messageOf } from '../../queries/api.ts';
import { adviseOn } from './sql-advice.ts';
import { examples } from './sql-examples.ts';
import { type SqlAnswer, SqlResult } from './sql-result.tsx';
import { SqlTables } from './sql-tables.tsx';

async function ask(sql: string): Promise<SqlAnswer> {
  const startedAt = performance.now();
  const { data } = await client.lake.query({ body: { sql } });
  return { ...data, tookMs: performance.now() - startedAt };
}

// Kept in the query cache until the user signs out, so that a visit to another page does not lose their query, and
// the next user to sign in does not see it.
function useDraft(): [string, (sql: string) => void] {
  const queries = useQueryClient();
  const queryKey = ['sql-draft'];
  const { data } = useQuery({
    queryKey,
    initialData: examples[0]!.sql,
    enabled: false,
    gcTime: Number.POSITIVE_INFINITY,
  });
  return [data, sql => queries.setQueryData(queryKey, sql)];
}

// Any question about the account's own rows. The lake answers it: the tables are neither read nor changed.
export default function SqlBox() {
  const [sql, setSql] = useDraft();
  const query = useMutation({ mutationFn: ask });
  const run = (text: string) => {
    if (text.trim() !== '' && !query.isPending) query.mutate(text);
  };
  const pick = (text: string) => {
    setSql(text);
    run(text);
  };
  const listen = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    run(sql);
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
        <Textarea
          aria-label="SQL"
          aria-keyshortcuts="Control+Enter"
          placeholder="select … from tasks"
          autosize
          minRows={6}
          maxRows={20}
          maxLength={20_000}
          spellCheck={false}
          autoComplete="off"
          autoCapitalize="off"
          value={sql}
          onChange={event => setSql(event.currentTarget.value)}
          onKeyDown={listen}
          classNames={{ input: 'stak-sql-input' }}
        />
        <Group justify="space-between">
          <Group gap="xs" visibleFrom="xs">
            <Kbd size="xs">Ctrl</Kbd>
            <Kbd size="xs">Enter</Kbd>
            <Text size="sm" c="dimmed">
              runs it. It only reads, in DuckDB’s language.
            </Text>
          </Group>
          <Button
            leftSection={<IconPlayerPlay size={16} />}
            loading={query.isPending}
            disabled={sql.trim() === ''}
            onClick={() => run(sql)}
          >
            Run
          </Button>
        </Group>
        {query.error && <Refusal error={query.error} />}
        {query.data && !query.error && <SqlResult answer={query.data} />}
      </Stack>
      <SqlTables onPick={pick} />
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
