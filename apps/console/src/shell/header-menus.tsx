import {
  ActionIcon,
  Avatar,
  Badge,
  Menu,
  Text,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core';
import {
  IconApi,
  IconBook,
  IconHelp,
  IconKeyboard,
  IconLock,
  IconMoon,
  IconSun,
  IconUser,
} from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useMe } from '../queries/organisation.ts';

export function HelpMenu({ onShortcuts }: { onShortcuts: () => void }) {
  const { data: server } = useServer();
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="default" size="lg" aria-label="Help">
          <IconHelp size={18} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item component="a" href="/docs/" leftSection={<IconBook size={16} aria-hidden />}>
          Documentation
        </Menu.Item>
        <Menu.Item component="a" href="/docs/api" leftSection={<IconApi size={16} aria-hidden />}>
          API reference
        </Menu.Item>
        <Menu.Item leftSection={<IconKeyboard size={16} aria-hidden />} onClick={onShortcuts}>
          Keyboard shortcuts
        </Menu.Item>
        {server?.version && <Menu.Label>Stak {server.version}</Menu.Label>}
      </Menu.Dropdown>
    </Menu>
  );
}

// Begins with the visible initials, so that somebody who speaks to the page can name the button as it looks.
const accountLabel = (name: string | undefined): string =>
  name === undefined ? 'Your account' : `${initialsOf(name)}: your account`;

const initialsOf = (name: string): string =>
  name
    .split(/\s+/)
    .slice(0, 2)
    .map(word => [...word][0] ?? '')
    .join('')
    .toUpperCase();

// The signed-in person and their own settings.
export function PersonMenu() {
  const navigate = useNavigate();
  const { setColorScheme } = useMantineColorScheme();
  const isDark = useComputedColorScheme('light') === 'dark';
  const { data: me } = useMe();
  return (
    <Menu position="bottom-end" width={240}>
      <Menu.Target>
        <ActionIcon variant="default" size="lg" radius="xl" aria-label={accountLabel(me?.name)}>
          <Avatar size={30} radius="xl" color="teal" aria-hidden>
            {me ? initialsOf(me.name) : <IconUser size={16} />}
          </Avatar>
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {me && (
          <Menu.Label>
            <Text size="sm" fw={600} c="var(--mantine-color-text)" truncate>
              {me.name}
            </Text>
            <Text size="xs" truncate>
              {me.email}
            </Text>
          </Menu.Label>
        )}
        <Menu.Item
          leftSection={<IconUser size={16} aria-hidden />}
          onClick={() => void navigate({ to: '/account', search: { tab: 'profile' } })}
        >
          Profile
        </Menu.Item>
        <Menu.Item
          leftSection={<IconLock size={16} aria-hidden />}
          onClick={() => void navigate({ to: '/account', search: { tab: 'security' } })}
        >
          Security
        </Menu.Item>
        <Menu.Item
          leftSection={isDark ? <IconSun size={16} aria-hidden /> : <IconMoon size={16} aria-hidden />}
          onClick={() => setColorScheme(isDark ? 'light' : 'dark')}
        >
          {isDark ? 'Light colours' : 'Dark colours'}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

const environments: Readonly<Record<string, { label: string; color: string }>> = {
  development: { label: 'Development', color: 'blue' },
  production: { label: 'Production', color: 'orange' },
};

const useServer = () =>
  useQuery({
    queryKey: ['server'],
    queryFn: async () => {
      const answer = await fetch('/console/server.json');
      return answer.ok ? ((await answer.json()) as { environment: string; version?: string }) : null;
    },
    staleTime: Number.POSITIVE_INFINITY,
  });

// Shows which server the user is about to change.
export function EnvironmentBadge() {
  const { data } = useServer();
  const known = environments[data?.environment ?? ''];
  if (!known) return null;
  return (
    <Badge variant="light" color={known.color} visibleFrom="md">
      {known.label}
    </Badge>
  );
}
