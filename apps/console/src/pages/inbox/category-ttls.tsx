import { ActionIcon, Button, Group, Stack, TextInput } from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';
import { useState } from 'react';

type Ttls = { [category: string]: string };
type Row = { id: number; category: string; ttl: string };

const rowsOf = (ttl: Ttls): Row[] =>
  Object.entries(ttl)
    .filter(([category]) => category !== 'default')
    .map(([category, value], id) => ({ id, category, ttl: value }));

// How long messages are kept, in the inbox and in single categories.
export function CategoryTtls({
  ttl,
  onChange,
  complaint,
}: {
  ttl: Ttls;
  onChange: (ttl: Ttls) => void;
  complaint: string | undefined;
}) {
  const [fallback, setFallback] = useState(ttl.default ?? '');
  const [rows, setRows] = useState(() => rowsOf(ttl));
  const write = (nextFallback: string, nextRows: Row[]) => {
    setFallback(nextFallback);
    setRows(nextRows);
    const named = nextRows
      .filter(row => row.category && row.ttl)
      .map(row => [row.category, row.ttl] as const);
    onChange({ ...Object.fromEntries(named), ...(nextFallback && { default: nextFallback }) });
  };
  const edit = (id: number, part: Partial<Row>) =>
    write(
      fallback,
      rows.map(row => (row.id === id ? { ...row, ...part } : row)),
    );
  const nextId = Math.max(0, ...rows.map(row => row.id)) + 1;

  return (
    <Stack gap="xs">
      <TextInput
        label="Messages expire after"
        error={complaint}
        description="30d, 12h or 300m; at most 730d. Leave empty for the tenant’s setting."
        pattern="[1-9][0-9]*[dhms]"
        value={fallback}
        onChange={event => write(event.currentTarget.value, rows)}
      />
      {rows.map(row => (
        <Group key={row.id} gap="xs" wrap="nowrap">
          <TextInput
            aria-label="Category"
            placeholder="Category"
            required
            flex={1}
            value={row.category}
            onChange={event => edit(row.id, { category: event.currentTarget.value })}
          />
          <TextInput
            aria-label={`Messages of ${row.category || 'this category'} expire after`}
            placeholder="12h"
            required
            pattern="[1-9][0-9]*[dhms]"
            w={90}
            value={row.ttl}
            onChange={event => edit(row.id, { ttl: event.currentTarget.value })}
          />
          <ActionIcon
            variant="default"
            size="lg"
            aria-label={`Remove ${row.category || 'this category'}`}
            onClick={() =>
              write(
                fallback,
                rows.filter(one => one.id !== row.id),
              )
            }
          >
            <IconTrash size={16} />
          </ActionIcon>
        </Group>
      ))}
      <Group>
        <Button
          size="compact-sm"
          variant="default"
          onClick={() => write(fallback, [...rows, { id: nextId, category: '', ttl: '' }])}
        >
          Add a category
        </Button>
      </Group>
    </Stack>
  );
}
