import { Autocomplete, Group, Select, TextInput } from '@mantine/core';
import type { ReminderDraft } from './task-draft.ts';

const rhythms = ['every day', 'every weekday', 'every week', 'every 2 weeks', 'every month', 'every year'];

type RepeatProps = { value: string; error: string | undefined; onChange: (text: string) => void };

export const RepeatField = ({ value, error, onChange }: RepeatProps) => (
  <Autocomplete
    label="Repeats"
    placeholder="Never"
    description="Such as “every 2 weeks on Monday”"
    data={rhythms}
    filter={({ options }) => options} // show all options: typed text is rarely the start of one
    value={value}
    error={error}
    onChange={onChange}
    clearable
    clearButtonProps={{ 'aria-label': 'Never repeat' }}
  />
);

const usualDays = [0, 1, 2, 7];

const nameDays = (days: number): string =>
  days === 0 ? 'On the due date' : days === 1 ? '1 day before' : `${days} days before`;

type ReminderProps = {
  value: ReminderDraft;
  zone: string; // the zone of the time
  error: string | undefined;
  onChange: (reminder: ReminderDraft) => void;
};

export function ReminderField({ value, zone, error, onChange }: ReminderProps) {
  const { kind, time, at } = value;
  const isDays = kind !== '' && kind !== 'at';
  const days = isDays && !usualDays.includes(Number(kind)) ? [...usualDays, Number(kind)] : usualDays;
  return (
    <Group grow align="start" preventGrowOverflow={false}>
      <Select
        label="Reminder"
        data={[
          { value: '', label: 'None' },
          ...days.map(day => ({ value: String(day), label: nameDays(day) })),
          { value: 'at', label: 'At a date and time' },
        ]}
        allowDeselect={false}
        value={kind}
        error={error}
        onChange={next => onChange({ ...value, kind: next ?? '' })}
      />
      {isDays && (
        <TextInput
          type="time"
          label={`At, in ${zone}`}
          required
          value={time}
          onChange={event => onChange({ ...value, time: event.currentTarget.value })}
        />
      )}
      {kind === 'at' && (
        <TextInput
          type="datetime-local"
          label="At"
          required
          value={at}
          onChange={event => onChange({ ...value, at: event.currentTarget.value })}
        />
      )}
    </Group>
  );
}
