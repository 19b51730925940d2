import { Badge, Card, Collapse, Group, Stack, Text, UnstyledButton } from '@mantine/core';
import { useState } from 'react';
import { TextLink } from '../../components/feedback/text-link.tsx';
import { CopyIcon } from '../../components/fields/copy.tsx';
import { counted, formatAgo, formatTime } from '../../text/format.ts';
import { Attributes, textOf } from './attributes.tsx';
import { EntityName } from './entity-name.tsx';
import { KeyText } from './key-text.tsx';
import { type Item, type Key, keyOf, type TableDetails } from './queries.ts';

type Props = {
  items: readonly Item[];
  table: TableDetails;
  index: string | undefined;
  isAlone: boolean; // whether only this partition was requested
};

// A partition with its items, in the order in which they are stored.
export function Partition({ items, table, index, isAlone }: Props) {
  const key = keyOf(items[0]!, 'partition', index);
  const shown = key && <KeyText keyView={key} />;
  return (
    <Card withBorder padding={0}>
      <Group gap={6} p="sm" wrap="nowrap" justify="space-between">
        <Text component="h3" m={0} fw={400} size="sm">
          <Text span size="xs" c="dimmed">
            {key?.attribute}{' '}
          </Text>
          {key && !isAlone && !key.is_masked ? <KeyLink keyView={key} table={table} /> : shown}
        </Text>
        <Group gap={4} wrap="nowrap">
          <Text size="xs" c="dimmed" className="stak-nowrap">
            {counted(items.length, 'item')}
          </Text>
          {key && !key.is_masked && <CopyIcon value={key.text} label={`Copy ${key.attribute}`} />}
        </Group>
      </Group>
      {items.map((item, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: items are listed by position
        <ItemRow key={i} item={item} table={table} index={index} />
      ))}
    </Card>
  );
}

function KeyLink({ keyView, table }: { keyView: Key; table: TableDetails }) {
  const search = { partition: keyView.text, ...(keyView.index !== null && { index: keyView.index }) };
  return (
    <TextLink
      to="/tables/$table"
      params={{ table: table.name }}
      search={search}
      c="inherit"
      underline="always"
    >
      <KeyText keyView={keyView} />
    </TextLink>
  );
}

function ItemRow({ item, table, index }: { item: Item; table: TableDetails; index: string | undefined }) {
  const [isOpen, setOpen] = useState(false);
  const sort = keyOf(item, 'sort', index);
  return (
    <>
      <UnstyledButton className="stak-item" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <div className="stak-item-line">
          {sort ? (
            <KeyText keyView={sort} />
          ) : (
            <Text span c="dimmed">
              No sort key
            </Text>
          )}
          <EntityName entity={item.entity} entities={table.entities} />
          <Text span size="sm" c="dimmed" truncate>
            {previewOf(item, index)}
          </Text>
          <Expiry item={item} />
        </div>
      </UnstyledButton>
      <Collapse expanded={isOpen}>
        {isOpen && <ItemDetails item={item} table={table} index={index} />}
      </Collapse>
    </>
  );
}

const isTime = /(?:^|_)at$|At$|Ms$/;

// Attributes that tell items of a partition apart at a glance: no times, and nothing that is in the key.
function previewOf(item: Item, index: string | undefined): string {
  const shown = item.keys.filter(key => key.index === (index ?? null));
  const inKeys = new Set(shown.flatMap(key => key.pieces.map(piece => piece.text)));
  const parts = item.attributes
    .filter(({ name, value, note }) => note === null && !isTime.test(name) && !inKeys.has(String(value)))
    .map(({ name, value }) => `${name}: ${textOf(value).slice(0, 60)}`);
  return parts.slice(0, 8).join(' · ');
}

function Expiry({ item }: { item: Item }) {
  if (item.expires_at === null) return <span />;
  return (
    <Badge
      variant={item.is_expired ? 'light' : 'default'}
      color="orange"
      fw={500}
      miw="max-content"
      title={formatTime(item.expires_at)}
    >
      {item.is_expired ? 'Expired' : 'Expires'} {formatAgo(item.expires_at)}
    </Badge>
  );
}

function ItemDetails({ item, table, index }: { item: Item; table: TableDetails; index: string | undefined }) {
  const here = keyOf(item, 'partition', index);
  const others = [null, ...table.indexes.map(index => index.name)].flatMap(name => {
    const keys = item.keys.filter(key => key.index === name);
    return keys.length > 0 && name !== (here?.index ?? null) ? [{ name, keys }] : [];
  });
  const label = `Attributes of ${keyOf(item, 'sort', index)?.text ?? here?.text ?? 'the item'}`;
  return (
    <Stack gap="sm" p="sm" pt={4}>
      <Attributes attributes={item.attributes} label={label} />
      {others.length > 0 && (
        <Stack gap={4}>
          <Text size="xs" c="dimmed">
            The same item is also found by
          </Text>
          {others.map(({ name, keys }) => (
            <Group key={name} gap="2px 12px">
              <Badge variant="default" miw="max-content">
                {name ?? 'The table'}
              </Badge>
              {keys.map(key =>
                key.role === 'partition' && !key.is_masked ? (
                  <KeyLink key={key.attribute} keyView={key} table={table} />
                ) : (
                  <KeyText key={key.attribute} keyView={key} />
                ),
              )}
            </Group>
          ))}
        </Stack>
      )}
    </Stack>
  );
}
