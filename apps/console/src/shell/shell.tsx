import { ActionIcon, Anchor, AppShell, Box, Burger, Button, Group, Kbd, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconLogout, IconSearch } from '@tabler/icons-react';
import { Outlet, useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { complain } from '../components/feedback/complaint.ts';
import { session } from '../queries/api.ts';
import { usePermissions } from '../queries/permissions.ts';
import { Alerts } from './alerts.tsx';
import { EnvironmentBadge, HelpMenu, PersonMenu } from './header-menus.tsx';
import { loadPagesAhead, PageLoading } from './late-module.tsx';
import { Navigation, pagesOf, useSections } from './navigation.tsx';
import { OrganisationSwitcher } from './organisation-switcher.tsx';
import { Reachability } from './reachability.tsx';
import { isMac, useShortcuts } from './shortcuts.tsx';

export function Shell() {
  const [isOpen, { toggle, close }] = useDisclosure(false);
  const sections = useSections();
  const { openPalette, openHelp, dialogs } = useShortcuts(pagesOf(sections));
  useEffect(loadPagesAhead, []);
  useEffect(() => {
    const carried = session.takeCarriedError();
    if (carried) complain(carried);
  }, []);
  const permissions = usePermissions(); // before the page, so that no button appears or disappears later
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
            <EnvironmentBadge />
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
            <Alerts />
            <HelpMenu onShortcuts={openHelp} />
            <PersonMenu />
            <SignOut />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs">
        <Box hiddenFrom="sm" mb="xs">
          <OrganisationSwitcher onLeave={close} />
        </Box>
        <AppShell.Section grow style={{ overflowY: 'auto' }}>
          <Navigation sections={sections} onLeave={close} />
        </AppShell.Section>
        <Anchor href="/docs/" size="sm" p="xs">
          Documentation
        </Anchor>
      </AppShell.Navbar>
      <AppShell.Main>
        <Reachability />
        {permissions.isPending ? <PageLoading /> : <Outlet />}
        {dialogs}
      </AppShell.Main>
    </AppShell>
  );
}

function SignOut() {
  const navigate = useNavigate();
  const leave = () => session.signOut().then(() => navigate({ to: '/sign-in' }), complain); // if the server cannot be reached
  return (
    <ActionIcon variant="default" size="lg" aria-label="Sign out" onClick={leave}>
      <IconLogout size={18} />
    </ActionIcon>
  );
}
