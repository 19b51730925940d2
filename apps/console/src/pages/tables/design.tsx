import { Accordion, Badge, Card, Group, Stack, Text, Title } from '@mantine/core';
import { DataTable } from '../../components/display/data-table.tsx';
import { Heading } from '../../components/display/section.tsx';
import { withCapital } from '../../text/capital.ts';
import { counted, formatBytes } from '../../text/format.ts';
import { EntityName } from './entity-name.tsx';
import { TemplateText } from './key-text.tsx';
import type { TableDetails } from './queries.ts';

type Entity = TableDetails['entities'][number];
type Index = TableDetails['indexes'][number];

// The design of the table: its entities with their keys, and its indexes.
export function Design({ table }: { table: TableDetails }) {
  const { entities, indexes } = table;
  return (
    <Stack>
      <Heading>Entities</Heading>
      <Accordion variant="separated" multiple>
        {entities.map(entity => (
          <Accordion.Item value={entity.name} key={entity.name}>
            <Accordion.Control>
              <Group gap="md">
                <EntityName entity={entity.name} entities={entities} />
                {entity.keys[0] && <Keys keys={entity.keys[0]} />}
              </Group>
            </Accordion.Control>
            <Accordion.Panel>
              <EntityDesign entity={entity} table={table} />
            </Accordion.Panel>
          </Accordion.Item>
        ))}
      </Accordion>
      <Heading>Indexes</Heading>
      {indexes.length === 0 && <Text c="dimmed">This table has none.</Text>}
      {indexes.map(index => (
        <IndexDesign key={index.name} index={index} entities={entities} />
      ))}
    </Stack>
  );
}

function Keys({ keys: { partition, sort } }: { keys: Entity['keys'][number] }) {
  return (
    <Group gap="md" component="span">
      <TemplateText text={partition} />
      {sort !== null && <TemplateText text={sort} />}
    </Group>
  );
}

function EntityDesign({ entity, table }: { entity: Entity; table: TableDetails }) {
  const facts = [
    entity.kind !== null && `Its kind is ${entity.kind}.`,
    entity.expires && table.ttl !== null && `It may expire by ${table.ttl}.`,
    entity.version !== null && `Every write counts up ${entity.version}.`,
    entity.in_key_only.length > 0 && `In the key only: ${entity.in_key_only.join(', ')}.`,
  ];
  return (
    <Stack gap="sm">
      <Text size="sm">{[entity.description, ...facts].filter(Boolean).join(' ')}</Text>
      <DataTable
        label={`Keys of ${entity.name}`}
        rows={entity.keys}
        keyOf={row => row.index ?? 'table'}
        empty=""
        columns={[
          { label: 'In', show: row => row.index ?? 'The table' },
          { label: 'Partition', show: row => <TemplateText text={row.partition} /> },
          { label: 'Sort', show: row => (row.sort === null ? '–' : <TemplateText text={row.sort} />) },
        ]}
      />
      <DataTable
        label={`Attributes of ${entity.name}`}
        rows={entity.attributes}
        keyOf={row => row.name}
        empty="It has no attributes other than its keys."
        columns={[
          { label: 'Attribute', show: row => <span className="stak-mono">{row.name}</span> },
          { label: 'Type', show: row => `${row.type}${row.is_optional ? ', or absent' : ''}` },
          { label: 'Meaning', show: row => row.description || '–' },
        ]}
      />
    </Stack>
  );
}

function IndexDesign({ index, entities }: { index: Index; entities: Entity[] }) {
  const rows = entities.flatMap(entity =>
    entity.keys.filter(keys => keys.index === index.name).map(keys => ({ ...keys, entity: entity.name })),
  );
  const projections = {
    ALL: 'holds whole items',
    KEYS_ONLY: 'holds keys only',
    INCLUDE: `holds keys and ${index.included.join(', ')}`,
  };
  return (
    <Card withBorder>
      <Stack gap="xs">
        <Group gap="sm">
          <Title order={4} size="h5">
            {index.name}
          </Title>
          <Badge variant="default">{withCapital(index.status.toLowerCase())}</Badge>
          <Text size="sm" c="dimmed">
            {counted(index.items, 'item')}, {formatBytes(index.bytes)}; {projections[index.projection]}.
          </Text>
        </Group>
        <DataTable
          label={`Entities in ${index.name}`}
          rows={rows}
          keyOf={row => row.entity}
          empty="It holds no entities."
          columns={[
            { label: 'Entity', show: row => <EntityName entity={row.entity} entities={entities} /> },
            { label: index.keys.partition, show: row => <TemplateText text={row.partition} /> },
            {
              label: index.keys.sort ?? 'No sort key',
              show: row => (row.sort === null ? '–' : <TemplateText text={row.sort} />),
            },
          ]}
        />
      </Stack>
    </Card>
  );
}
