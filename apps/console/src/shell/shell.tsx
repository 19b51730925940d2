import {
  ActionIcon,
  Anchor,
  AppShell,
  Box,
  Burger,
  Button,
  Group,
  Kbd,
  NavLink,
  Title,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import {
  IconChecklist,
  IconGauge,
  IconInbox,
  IconKeyboard,
  IconLogout,
  IconMessageChatbot,
  IconMoon,
  IconSearch,
  IconSun,
  IconTable,
  IconUser,
  IconWebhook,
} from '@tabler/icons-react';
import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router';
import { useEffect } from 'react';
import { complain } from '../components/complaint.ts';
import { useHasTables } from '../pages/tables/queries.ts';
import { session } from '../queries/api.ts';
import { loadPagesAhead } from './late-module.tsx';
import { OrganisationSwitcher } from './organisation-switcher.tsx';
import { Reachability } from './reachability.tsx';
import { isMac, useShortcuts } from './shortcuts.tsx';

const links = [
  { to: '/', label: 'Overview', icon: IconGauge },
  { to: '/inbox', label: 'Inbox', icon: IconInbox },
  { to: '/webhooks', label: 'Webhooks', icon: IconWebhook },
  { to: '/tasks', label: 'Tasks', icon: IconChecklist },
  { to: '/agents', label: 'Agents', icon: IconMessageChatbot },
  { to: '/tables', label: 'Tables', icon: IconTable },
  { to: '/account', label: 'Account', icon: IconUser },
] as const;

export function Shell() {
  const [isOpen, { toggle, close }] = useDisclosure(false);
  const path = useRouterState({ select: state => state.location.pathname });
  const hasTables = useHasTables();
  const shownLinks = links.filter(({ to }) => to !== '/tables' || hasTables);
  const { openPalette, openHelp, dialogs } = useShortcuts(shownLinks);
  useEffect(loadPagesAhead, []);
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 220, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
      padding="md"
    >
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between">
          <Group gap="sm">
            <Burger opened={isOpen} onClick={toggle} hiddenFrom="sm" size="sm" aria-label="Menu" />
            <img src="/console/icon.svg" width={28} height={28} alt="" />
            <Title order={1} size="h3">
              Stak
            </Title>
            <Box visibleFrom="sm">
              <OrganisationSwitcher />
            </Box>
          </Group>
          <Group gap="xs">
            <Button
              variant="default"
              leftSection={<IconSearch size={16} />}
              rightSection={<Kbd size="xs">{isMac ? '⌘' : 'Ctrl'} K</Kbd>}
              visibleFrom="sm"
              onClick={openPalette}
            >
              Search
            </Button>
            <ActionIcon
              variant="default"
              size="lg"
              aria-label="Search everything"
              hiddenFrom="sm"
              onClick={openPalette}
            >
              <IconSearch size={18} />
            </ActionIcon>
            <ActionIcon
              variant="default"
              size="lg"
              aria-label="Keyboard shortcuts"
              visibleFrom="sm"
              onClick={openHelp}
            >
              <IconKeyboard size={18} />
            </ActionIcon>
            <ColorSwitch />
            <SignOut />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs">
        <Box hiddenFrom="sm" mb="xs">
          <OrganisationSwitcher onLeave={close} />
        </Box>
        <nav aria-label="Main">
          {shownLinks.map(({ to, label, icon: Icon }) => (
            <NavLink
              key={to}
              component={Link}
              to={to}
              label={label}
              leftSection={<Icon size={18} stroke={1.6} aria-hidden />}
              active={to === '/' ? path === '/' : path.startsWith(to)}
              onClick={close}
            />
          ))}
        </nav>
        <Anchor href="/docs" size="sm" mt="auto" p="xs">
          API reference
        </Anchor>
      </AppShell.Navbar>
      <AppShell.Main>
        <Reachability />
        <Outlet />
        {dialogs}
      </AppShell.Main>
    </AppShell>
  );
}

function ColorSwitch() {
  const { setColorScheme } = useMantineColorScheme();
  const isDark = useComputedColorScheme('light') === 'dark';
  return (
    <ActionIcon
      variant="default"
      size="lg"
      aria-label={isDark ? 'Light colours' : 'Dark colours'}
      onClick={() => setColorScheme(isDark ? 'light' : 'dark')}
    >
      {isDark ? <IconSun size={18} /> : <IconMoon size={18} />}
    </ActionIcon>
  );
}

function SignOut() {
  const navigate = useNavigate();
  const leave = () => session.signOut().then(() => navigate({ to: '/sign-in' }), complain); // of a server that cannot be reached
  return (
    <ActionIcon variant="default" size="lg" aria-label="Sign out" onClick={leave}>
      <IconLogout size={18} />
    </ActionIcon>
  );
}
