import { Text } from '@mantine/core';
import type { TableDetails } from './queries.ts';

const colors = [
  'teal',
  'blue',
  'grape',
  'orange',
  'pink',
  'indigo',
  'lime',
  'cyan',
  'yellow',
  'red',
] as const;

type Props = { entity: string | null; entities: TableDetails['entities'] };

// The colour groups entities of a kind; the word names it.
export function EntityName({ entity, entities }: Props) {
  const index = entities.findIndex(one => one.name === entity);
  const color = index < 0 ? 'gray' : colors[index % colors.length];
  return (
    <Text span size="sm" style={{ display: 'inline-flex', alignItems: 'center', gap: '0.4rem' }}>
      <span className="stak-dot" style={{ background: `var(--mantine-color-${color}-6)` }} aria-hidden />
      {entity ?? 'not in the design'}
    </Text>
  );
}
