import { useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import {
  IconArrowsExchange,
  IconBook,
  IconKey,
  IconLogout,
  IconMoon,
  IconPlus,
  IconRefresh,
  IconSun,
  type TablerIcon,
} from '@tabler/icons-react';
import { useNavigate, useRouterState } from '@tanstack/react-router';
import { complain } from '../components/feedback/complaint.ts';
import { useReplayEvent } from '../pages/webhooks/event-replay.tsx';
import { session } from '../queries/api.ts';
import { useOrganisations } from '../queries/organisation.ts';
import { type OperationId, useMay } from '../queries/permissions.ts';

export type Action = {
  id: string;
  label: string;
  description?: string | undefined;
  icon?: TablerIcon;
  keys?: string; // the shortcut that does the same
  go: () => unknown;
};

/** What can be done from anywhere, and with the event that is open. */
export function usePaletteActions(): Action[] {
  const navigate = useNavigate();
  const may = useMay();
  const { setColorScheme } = useMantineColorScheme();
  const isDark = useComputedColorScheme('light') === 'dark';
  const { data: organisations = [] } = useOrganisations();
  const eventId = useRouterState({
    select: ({ location: { pathname, search } }) =>
      /\/events\/(evt_\w+)/.exec(pathname)?.[1] ?? (search as { event?: string }).event,
  });
  const replay = useReplayEvent();
  const permitted: (Action & { id: OperationId })[] = [
    ...(eventId === undefined
      ? []
      : [
          {
            id: 'webhooks.replayEvent' as const,
            label: 'Replay this event',
            icon: IconRefresh,
            keys: 'R',
            go: () => replay.mutate(eventId),
          },
        ]),
    {
      id: 'tasks.create',
      label: 'New task',
      icon: IconPlus,
      go: () => navigate({ to: '/tasks', search: { view: 'board', create: true } }),
    },
    {
      id: 'webhooks.createSource',
      label: 'New webhook source',
      icon: IconPlus,
      go: () => navigate({ to: '/webhooks', search: { create: true } }),
    },
    {
      id: 'accounts.createKey',
      label: 'New API key',
      icon: IconKey,
      go: () => navigate({ to: '/account', search: { tab: 'keys' } }),
    },
  ];
  return [
    ...permitted.filter(({ id }) => may(id)),
    ...organisations
      .filter(({ isCurrent }) => !isCurrent)
      .map(({ accountId, name }) => ({
        id: `switch to ${accountId}`,
        label: `Switch to ${name}`,
        icon: IconArrowsExchange,
        go: () => session.switchTo(accountId).catch(complain),
      })),
    {
      id: 'theme',
      label: isDark ? 'Light colours' : 'Dark colours',
      description: 'Theme',
      icon: isDark ? IconSun : IconMoon,
      go: () => setColorScheme(isDark ? 'light' : 'dark'),
    },
    {
      id: 'docs',
      label: 'Documentation',
      icon: IconBook,
      go: () => window.location.assign('/docs/'),
    },
    {
      id: 'sign out',
      label: 'Sign out',
      icon: IconLogout,
      go: () => session.signOut().then(() => navigate({ to: '/sign-in' }), complain),
    },
  ];
}
