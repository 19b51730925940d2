import { Title } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { usePageTitle } from '../../shell/page-title.ts';
import { EventList } from './event-list.tsx';

const route = getRouteApi('/inside/webhooks/events');

export function WebhookEventsPage() {
  usePageTitle('Events', 'Webhooks');
  const search = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <EventList
      title={<Title order={2}>Events</Title>}
      search={search}
      change={part =>
        void navigate({ search: before => ({ ...before, ...part }), replace: !('event' in part) })
      }
    />
  );
}
