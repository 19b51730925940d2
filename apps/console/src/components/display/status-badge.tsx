import { Badge } from '@mantine/core';
import { withCapital } from '../../text/capital.ts';

const colors: Readonly<Record<string, string>> = {
  active: 'teal',
  closed: 'teal',
  delivered: 'teal',
  ok: 'teal',
  ready: 'teal',
  partial: 'orange',
  retrying: 'orange',
  half: 'orange',
  paused: 'orange',
  suspended: 'orange',
  failed: 'red',
  rejected: 'red',
  open: 'red',
  disabled: 'red',
  onboarding: 'blue',
  received: 'blue',
  processing: 'blue',
  pending: 'blue',
};

// The colour only helps; the word carries the meaning.
export function StatusBadge({ status, label = status }: { status: string; label?: string }) {
  return (
    <Badge variant="light" color={colors[status] ?? 'gray'} miw="max-content">
      {withCapital(label)}
    </Badge>
  );
}
