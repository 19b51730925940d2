import { Stack } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { TextLink } from '../../components/feedback/text-link.tsx';
import { usePageTitle } from '../../shell/page-title.ts';
import { EventDetail } from './event-detail.tsx';
import { useSources } from './queries.ts';

const route = getRouteApi('/inside/webhooks/$source/events/$event');

export function WebhookEventPage() {
  const { source: sourceId, event: eventId } = route.useParams();
  const { view } = route.useSearch();
  const navigate = route.useNavigate();
  const { data: sources = [] } = useSources();
  usePageTitle(eventId, 'Events', sources.find(source => source.sourceId === sourceId)?.name);
  return (
    <Stack>
      <TextLink to="/webhooks/$source" params={{ source: sourceId }} size="sm">
        ← Events
      </TextLink>
      <EventDetail
        sourceId={sourceId}
        eventId={eventId}
        view={view}
        onView={next => void navigate({ search: { view: next }, replace: true })}
      />
    </Stack>
  );
}
