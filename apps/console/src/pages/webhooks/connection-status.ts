import type { Connection } from '@stak/client';

export type ConnectionStatus = { status: string; label: string; note?: string };

// Only the worst status: a failing destination matters, unless nothing is sent to it anyway.
export function statusOf({
  status,
  breaker,
  disabledReason,
}: Pick<Connection, 'status' | 'breaker' | 'disabledReason'>): ConnectionStatus {
  if (status === 'disabled')
    return {
      status: 'disabled',
      label: 'Disabled',
      note: disabledReason ?? 'Stak has stopped sending to this destination.',
    };
  if (status === 'deleted') return { status: 'disabled', label: 'Deleted' };
  if (status === 'paused')
    return { status: 'paused', label: 'Paused', note: 'Events wait and are delivered when you resume it.' };
  if (breaker === 'open')
    return {
      status: 'failed',
      label: 'Failing',
      note: 'The destination keeps failing. Deliveries wait, and it is tried again every few minutes.',
    };
  if (breaker === 'half')
    return { status: 'failed', label: 'Failing', note: 'The destination is being tried again.' };
  return { status: 'active', label: 'Active' };
}
