import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { withCapital } from '../../text/capital.ts';

type Props = { label: string; value: ReactNode; note?: ReactNode };

// One number and what it counts.
export function Stat({ label, value, note }: Props) {
  return (
    <div className="stak-stat">
      <Text c="dimmed" size="sm">
        {label}
      </Text>
      <Text size="xl" fw={600} className="stak-figures">
        {value}
      </Text>
      {note !== undefined && (
        <Text c="dimmed" size="xs">
          {typeof note === 'string' ? withCapital(note) : note}
        </Text>
      )}
    </div>
  );
}
