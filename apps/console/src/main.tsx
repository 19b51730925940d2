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
    // Words as they are written: capitals are harder to read.
    Badge: { defaultProps: { tt: 'none' } },
    // A cross says nothing to a screen reader.
    CloseButton: { defaultProps: { 'aria-label': 'Close' } },
    // The first item gets the focus: an element for it alone has no role that a menu may contain.
    Menu: { defaultProps: { withInitialFocusPlaceholder: false } },
    // The page has one banner, and it is not the title of a dialog.
    ModalHeader: { defaultProps: { role: 'presentation' } },
    DrawerHeader: { defaultProps: { role: 'presentation' } },
  },
});

// Back from a provider, which was not given what stands behind the `#`.
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
