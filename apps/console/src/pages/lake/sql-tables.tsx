import { Accordion, Button, Card, Code, Group, Text, Title } from '@mantine/core';
import { isWithoutLake } from '../../components/feedback/lake-failure.tsx';
import { Loaded } from '../../components/feedback/loaded.tsx';
import { useAnswer } from '../../queries/answers.ts';
import { client } from '../../queries/api.ts';

export const useLakeStatus = () => useAnswer(['lake-status'], () => client.lake.status(), { retry: false });

// The tables and columns that a query can use.
export function SqlTables({ onPick }: { onPick: (sql: string) => void }) {
  const status = useLakeStatus();
  if (isWithoutLake(status.error)) return null;
  return (
    <Card withBorder component="section" aria-label="Tables">
      <Title order={3} size="h5" mb="xs">
        Tables
      </Title>
      <Loaded query={status}>
        {({ views }) => (
          <Accordion
            chevronPosition="left"
            className="stak-sql-tables"
            styles={{ content: { padding: '0 4px 8px' }, label: { padding: '6px 0' } }}
          >
            {views.map(({ name, columns }) => (
              <Accordion.Item key={name} value={name}>
                <Accordion.Control p={0}>
                  <Text size="sm" fw={500} className="stak-mono">
                    {name}
                  </Text>
                </Accordion.Control>
                <Accordion.Panel>
                  <Group gap={4} mb="xs">
                    {columns.map(column => (
                      <Code key={column.name} title={column.type}>
                        {column.name}
                      </Code>
                    ))}
                  </Group>
                  <Button
                    size="compact-sm"
                    variant="default"
                    onClick={() => onPick(`select *\nfrom ${name}\nlimit 20`)}
                  >
                    Look at {name}
                  </Button>
                </Accordion.Panel>
              </Accordion.Item>
            ))}
          </Accordion>
        )}
      </Loaded>
      {status.data && (
        <Text size="xs" c="dimmed" mt="xs">
          They hold only your own rows.
        </Text>
      )}
    </Card>
  );
}
