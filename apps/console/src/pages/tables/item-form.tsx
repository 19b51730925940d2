import { ActionIcon, Autocomplete, Button, Card, Group, Select, TextInput } from '@mantine/core';
import { IconSearch, IconX } from '@tabler/icons-react';
import { useState } from 'react';
import type { TableDetails, TableSearch } from './queries.ts';

const ownKeys = 'The table';

type Props = { table: TableDetails; search: TableSearch; go: (to: TableSearch) => void };

// Chooses what to read. Offers the key templates of the design to fill in.
export function ItemForm({ table, search, go }: Props) {
  const [index, setIndex] = useState(search.index);
  const [partition, setPartition] = useState(search.partition ?? '');
  const [sort, setSort] = useState(search.sort ?? '');
  const keys = table.indexes.find(one => one.name === index)?.keys ?? table.keys;
  const unfilled = /\{[^}]+\}/.exec(partition)?.[0];
  const templates = table.entities.flatMap(entity =>
    entity.keys.filter(key => key.index === (index ?? null)).map(key => key.partition),
  );
  const { tab, entity, order } = search;
  const kept = { ...(tab && { tab }), ...(entity && { entity }), ...(order && { order }) };
  const read = () =>
    go({
      ...kept,
      ...(index && { index }),
      ...(partition && { partition }),
      ...(partition && sort && { sort }),
    });
  const canClear = [search.index, search.partition, search.sort, entity, order].some(Boolean);
  return (
    <Card withBorder padding="sm">
      <form
        onSubmit={event => {
          event.preventDefault();
          if (!unfilled) read();
        }}
      >
        <Group align="start" gap="sm">
          <Select
            label="Read"
            data={[ownKeys, ...table.indexes.map(index => index.name)]}
            value={index ?? ownKeys}
            allowDeselect={false}
            flex="1 1 110px"
            maw={{ base: undefined, md: 160 }}
            onChange={value => {
              setIndex(value === null || value === ownKeys ? undefined : value);
              setPartition('');
              setSort('');
            }}
          />
          <Autocomplete
            label={`Partition (${keys.partition})`}
            placeholder="All of them"
            data={[...new Set(templates)]}
            value={partition}
            onChange={setPartition}
            error={unfilled && `Put a value in place of ${unfilled}`}
            flex="3 1 200px"
            comboboxProps={{ width: 'max-content', position: 'bottom-start' }}
          />
          {keys.sort !== null && (
            <TextInput
              label={`${keys.sort} begins with`}
              placeholder="Anything"
              value={sort}
              disabled={partition === ''}
              onChange={event => setSort(event.currentTarget.value)}
              flex="2 1 150px"
            />
          )}
          <Select
            label="Entity"
            placeholder="Any"
            clearable
            clearButtonProps={{ 'aria-label': 'Any entity' }}
            data={table.entities.map(entity => entity.name)}
            value={entity ?? null}
            searchable
            flex="1 1 130px"
            maw={{ base: undefined, md: 200 }}
            onChange={value => {
              const { entity: _, ...rest } = search;
              go(value === null ? rest : { ...rest, entity: value });
            }}
          />
          <Select
            label="Order"
            data={[
              { value: 'asc', label: 'First to last' },
              { value: 'desc', label: 'Last to first' },
            ]}
            value={order ?? 'asc'}
            allowDeselect={false}
            disabled={search.partition === undefined}
            flex="1 1 125px"
            maw={{ base: undefined, md: 150 }}
            onChange={value => {
              const { order: _, ...rest } = search;
              go(value === 'desc' ? { ...rest, order: 'desc' } : rest);
            }}
          />
          <Group gap="xs" wrap="nowrap" style={{ alignSelf: 'end' }}>
            <Button type="submit" leftSection={<IconSearch size={16} />}>
              Read
            </Button>
            {canClear && (
              <ActionIcon
                size={36}
                variant="default"
                aria-label="Clear the query"
                title="Clear the query"
                onClick={() => go(tab ? { tab } : {})}
              >
                <IconX size={16} />
              </ActionIcon>
            )}
          </Group>
        </Group>
      </form>
    </Card>
  );
}
