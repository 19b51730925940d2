import '@mantine/core/styles.css';
import '@stak/kit/identity.css';
import './console.css';
import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { session } from './queries/api.ts';
import { takeDestination } from './queries/destination.ts';
import { queries } from './queries/query-client.ts';
import { router } from './router.tsx';
import { LateNotifications } from './shell/notifications.tsx';
import { cssVariablesResolver, theme } from './theme.ts';

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
    <MantineProvider theme={theme} cssVariablesResolver={cssVariablesResolver} defaultColorScheme="auto">
      <LateNotifications />
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
