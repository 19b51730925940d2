import '@mantine/core/styles.css';
import './console.css';
import { createTheme, MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { session } from './queries/api.ts';
import { takeDestination } from './queries/destination.ts';
import { queries } from './queries/query-client.ts';
import { router } from './router.tsx';
import { LateNotifications } from './shell/notifications.tsx';

const theme = createTheme({
  primaryColor: 'teal',
  primaryShade: 9,
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    // No upper case, which is harder to read.
    Badge: { defaultProps: { tt: 'none' } },
    Modal: { styles: { title: { fontWeight: 600 } } },
    Drawer: { styles: { title: { fontWeight: 600 } } },
    // Screen readers need a name for the cross.
    CloseButton: { defaultProps: { 'aria-label': 'Close' } },
    // The first item gets the focus. A separate focus target would have a role that a menu may not contain.
    Menu: { defaultProps: { withInitialFocusPlaceholder: false } },
    // A page may have one banner only, and the title of a dialog is not it.
    ModalHeader: { defaultProps: { role: 'presentation' } },
    DrawerHeader: { defaultProps: { role: 'presentation' } },
  },
});

// Restores the `#` fragment after a sign-in at a provider, which never receives it.
const { pathname, search, hash } = router.history.location;
const destination = hash === '' ? takeDestination(pathname.slice('/console'.length) + search) : undefined;
if (destination !== undefined) router.history.replace(`/console${destination}`);

await session.resume();
session.subscribe(() => {
  queries.clear();
  void router.invalidate();
});

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <MantineProvider theme={theme} defaultColorScheme="auto">
      <LateNotifications />
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
