import { Card, Group, Progress, SegmentedControl, SimpleGrid, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { DataTable } from '../../components/display/data-table.tsx';
import { Stat } from '../../components/display/stat.tsx';
import { formatNumber, formatTime } from '../../text/format.ts';
import { TemplateText } from './key-text.tsx';
import type { TableDetails } from './queries.ts';
import { formatPerCall, formatUnits } from './units.ts';

type Pattern = TableDetails['patterns'][number];

const unitsOf = (one: Pattern): number => one.read_units + one.write_units;
const sum = (all: readonly Pattern[], of: (one: Pattern) => number): number =>
  all.reduce((total, one) => total + of(one), 0);

// Shows what each access pattern has cost so far, next to what the design expects.
export function Patterns({ table }: { table: TableDetails }) {
  const [shown, setShown] = useState('used');
  const { patterns, since } = table;
  const total = sum(patterns, unitsOf);
  const rows = patterns
    .filter(pattern => shown === 'all' || pattern.calls > 0)
    .toSorted((a, b) => unitsOf(b) - unitsOf(a) || b.calls - a.calls);
  return (
    <Stack gap="sm">
      <SimpleGrid cols={{ base: 1, xs: 3 }}>
        <Stat label="Calls" value={formatNumber(sum(patterns, one => one.calls))} />
        <Stat label="Read units" value={formatUnits(sum(patterns, one => one.read_units))} />
        <Stat label="Write units" value={formatUnits(sum(patterns, one => one.write_units))} />
      </SimpleGrid>
      <Group justify="space-between">
        <Text size="sm" c="dimmed">
          Counted by this server since {formatTime(since)}. Examples are measured with the design's own items.
        </Text>
        <SegmentedControl
          size="xs"
          aria-label="Which patterns"
          value={shown}
          onChange={setShown}
          data={[
            { value: 'used', label: 'Used' },
            { value: 'all', label: `All ${patterns.length}` },
          ]}
        />
      </Group>
      <Card withBorder>
        <DataTable
          label="Access patterns"
          rows={rows}
          keyOf={row => row.name}
          empty="Nothing has been read or written here yet."
          columns={[
            { label: 'Pattern', show: row => <PatternName pattern={row} /> },
            {
              label: 'Share of units',
              show: row => (
                <Progress
                  value={total === 0 ? 0 : (unitsOf(row) / total) * 100}
                  miw={90}
                  aria-label={`${row.name}: share of units`}
                />
              ),
            },
            { label: 'Calls', show: row => formatNumber(row.calls), isNumber: true },
            { label: 'Read units', show: row => formatUnits(row.read_units), isNumber: true },
            { label: 'Write units', show: row => formatUnits(row.write_units), isNumber: true },
            {
              label: 'A call',
              show: row =>
                row.calls === 0
                  ? '–'
                  : formatPerCall(row.read_units / row.calls, row.write_units / row.calls),
              isNumber: true,
            },
            {
              label: 'Example',
              show: row =>
                row.example ? formatPerCall(row.example.read_units, row.example.write_units) : '–',
              isNumber: true,
            },
          ]}
        />
      </Card>
    </Stack>
  );
}

function PatternName({ pattern: { name, index, conditions, notes } }: { pattern: Pattern }) {
  return (
    <Stack gap={0} miw={220}>
      <Text span size="sm" fw={500}>
        {name}
      </Text>
      {conditions.map(({ attribute, is, text }) => (
        <Text span size="xs" key={attribute} className="stak-break stak-small">
          <Text span size="xs" c="dimmed">
            {attribute} {is}{' '}
          </Text>
          <TemplateText text={text} />
        </Text>
      ))}
      {(index !== null || notes.length > 0) && (
        <Text span size="xs" c="dimmed">
          {[index !== null && `in ${index}`, ...notes].filter(Boolean).join(', ')}
        </Text>
      )}
    </Stack>
  );
}
