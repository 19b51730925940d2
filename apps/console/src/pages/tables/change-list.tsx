import { Alert, Badge, Button, Card, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { counted, formatClock, formatTime } from '../../text/format.ts';
import { Attributes, textOf } from './attributes.tsx';
import type { Live, NumberedChange } from './changes.ts';
import { EntityName } from './entity-name.tsx';
import { KeyText } from './key-text.tsx';
import type { TableDetails } from './queries.ts';

const kinds = {
  insert: { label: 'Inserted', color: 'teal' },
  modify: { label: 'Modified', color: 'blue' },
  remove: { label: 'Removed', color: 'red' },
  expire: { label: 'Expired', color: 'orange' },
} as const;

type Props = { table: TableDetails; live: Live; onClear: () => void };

// The records of the table's stream, newest first.
export function ChangeList({ table, live, onClear }: Props) {
  const [frozen, setFrozen] = useState<Live['changes'] | null>(null);
  if (table.stream === null)
    return <Text c="dimmed">This table has no stream: nothing follows its changes.</Text>;
  const changes = frozen ?? live.changes;
  return (
    <Stack gap="sm">
      <Group justify="space-between">
        <Text size="sm" c="dimmed" role="status">
          {live.isLive
            ? `Live: ${counted(live.count, 'change')} since you opened this page.`
            : 'Connecting to the stream…'}
          {frozen && ` Paused; ${live.count - (frozen[0]?.number ?? 0)} newer.`}
        </Text>
        <Group gap="xs">
          <Button
            size="xs"
            variant="default"
            disabled={live.changes.length === 0}
            onClick={() => setFrozen(frozen ? null : live.changes)}
          >
            {frozen ? 'Resume' : 'Pause'}
          </Button>
          <Button
            size="xs"
            variant="default"
            disabled={live.changes.length === 0}
            onClick={() => {
              setFrozen(null);
              onClear();
            }}
          >
            Clear
          </Button>
        </Group>
      </Group>
      {live.hasGap && (
        <Alert color="orange" role="status" title="Some changes are missing here">
          The connection was lost for too long to resume. The table itself has everything.
        </Alert>
      )}
      {changes.length === 0 ? (
        <Card withBorder>
          <Text c="dimmed">
            Nothing has changed yet. Add a task or send a message, and see here what it writes.
          </Text>
        </Card>
      ) : (
        <Stack gap="xs" component="ol" p={0} m={0} style={{ listStyle: 'none' }} aria-label="Changes">
          {changes.map(change => (
            <Card withBorder padding="sm" component="li" key={change.number}>
              <ChangeCard change={change} table={table} />
            </Card>
          ))}
        </Stack>
      )}
    </Stack>
  );
}

function ChangeCard({ change, table }: { change: NumberedChange; table: TableDetails }) {
  const { kind, at, item, changed } = change;
  const [isOpen, setOpen] = useState(false);
  const own = item.keys.filter(key => key.index === null);
  return (
    <Stack gap={6}>
      <Group gap="sm">
        <Badge variant="light" color={kinds[kind].color} miw="max-content">
          {kinds[kind].label}
        </Badge>
        <EntityName entity={item.entity} entities={table.entities} />
        <Text span size="xs" c="dimmed" title={formatTime(at)}>
          {formatClock(at)}
        </Text>
        <Button
          size="compact-xs"
          variant="subtle"
          onClick={() => setOpen(!isOpen)}
          aria-expanded={isOpen}
          ml="auto"
        >
          {isOpen ? 'Less' : 'Whole item'}
        </Button>
      </Group>
      <Group gap="4px 20px">
        {own.map(key => (
          <KeyText key={key.attribute} keyView={key} />
        ))}
      </Group>
      {kind === 'modify' && !isOpen && <Differences change={change} />}
      {kind === 'modify' && changed.length === 0 && (
        <Text size="xs" c="dimmed">
          Only its index keys changed.
        </Text>
      )}
      {isOpen && <Attributes attributes={item.attributes} label={`Attributes of change ${change.number}`} />}
    </Stack>
  );
}

function Differences({ change: { changed, before, item } }: { change: NumberedChange }) {
  const valueIn = (list: typeof before, name: string) => list?.find(one => one.name === name);
  const short = (text: string) => (text.length > 120 ? `${text.slice(0, 120)}…` : text);
  return (
    <Stack gap={2}>
      {changed.map(name => {
        const old = valueIn(before, name);
        const current = valueIn(item.attributes, name);
        return (
          <Text key={name} size="sm" className="stak-break">
            <Text span c="dimmed" size="sm">
              {name}:{' '}
            </Text>
            {old && <del className="stak-mono stak-struck">{short(textOf(old.value))}</del>}
            {old && current && ' '}
            {current && <span className="stak-mono">{short(textOf(current.value))}</span>}
            {!current && (
              <Text span size="xs" c="dimmed">
                {' '}
                Removed
              </Text>
            )}
          </Text>
        );
      })}
    </Stack>
  );
}
