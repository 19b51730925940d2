import { Badge, Code, Group, Text } from '@mantine/core';
import { prettyText } from '../../text/payload-text.ts';
import type { Attribute } from './queries.ts';

const notes = {
  masked: 'hidden: it is a secret',
  sealed: 'sealed, as it is stored',
  cut: 'cut: there is more of it',
} as const;

const typeNames: Readonly<Record<string, string>> = {
  S: 'text',
  N: 'number',
  B: 'bytes',
  BOOL: 'yes or no',
  NULL: 'null',
  M: 'map',
  L: 'list',
  SS: 'set of texts',
  NS: 'set of numbers',
  BS: 'set of bytes',
};

export function textOf(value: unknown, isWide = false): string {
  // Nested values are often stored as JSON.
  if (typeof value === 'string') return isWide && /^[[{]/.test(value) ? prettyText(value) : value;
  return JSON.stringify(value, null, isWide ? 2 : undefined);
}

// The attributes of an item besides its keys, with their DynamoDB types.
export function Attributes({ attributes, label }: { attributes: readonly Attribute[]; label: string }) {
  if (attributes.length === 0)
    return (
      <Text c="dimmed" size="sm">
        Nothing but its keys.
      </Text>
    );
  return (
    <table className="stak-attributes" aria-label={label}>
      <tbody>
        {attributes.map(attribute => (
          <tr key={attribute.name}>
            <th scope="row">
              <Group gap={6} wrap="nowrap" align="center">
                <Badge size="xs" variant="default" radius="sm" title={typeNames[attribute.type]} miw={26}>
                  {attribute.type}
                </Badge>
                <Text span size="sm" className="stak-break">
                  {attribute.name}
                </Text>
              </Group>
            </th>
            <td>
              <Value attribute={attribute} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Value({ attribute: { name, value, note } }: { attribute: Attribute }) {
  const text = textOf(value, true);
  const isLong = text.includes('\n') || text.length > 160;
  return (
    <>
      {isLong ? (
        <Code block className="stak-value" tabIndex={0} aria-label={name}>
          {text}
        </Code>
      ) : (
        <span className="stak-mono">{text}</span>
      )}
      {note !== null && (
        <Text size="xs" c="dimmed">
          {notes[note]}
        </Text>
      )}
    </>
  );
}
