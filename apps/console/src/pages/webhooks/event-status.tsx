import { StatusBadge } from '../../components/display/status-badge.tsx';
import { eventStatusText } from './event-status-text.ts';

export const EventStatusBadge = ({ event }: { event: Parameters<typeof eventStatusText>[0] }) => (
  <StatusBadge status={event.status} label={eventStatusText(event)} />
);
