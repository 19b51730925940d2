import { SegmentedControl } from '@mantine/core';

type Props = { choices: readonly number[]; days: number; onChange: (days: number) => void };

// How many days back a chart goes.
export const DaySpan = ({ choices, days, onChange }: Props) => (
  <SegmentedControl
    size="xs"
    aria-label="Days"
    value={String(days)}
    onChange={value => onChange(Number(value))}
    data={choices.map(count => ({ value: String(count), label: `${count} days` }))}
  />
);
