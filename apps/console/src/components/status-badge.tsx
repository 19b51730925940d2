import { Badge } from '@mantine/core';
import { withCapital } from '../text/capital.ts';

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

// The colour is a help for the eye; the word says it.
export function StatusBadge({ status, label = withCapital(status) }: { status: string; label?: string }) {
  return (
    <Badge variant="light" color={colors[status] ?? 'gray'} tt="none" miw="max-content">
      {label}
    </Badge>
  );
}
