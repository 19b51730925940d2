import '@stak/inbox-react/styles.css';
import '@stak/portal-react/styles.css';
import '@stak/kit/identity.css';
import './portal.css';
import { Portal, type PortalPage, PortalProvider, type PortalUser } from '@stak/portal-react';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { lazy, StrictMode, Suspense } from 'react';
import { createRoot } from 'react-dom/client';
import { go, hrefOf, usePage } from './router.ts';
import { freshToken, session, tenantId, useSession } from './session.ts';
import { SignIn } from './sign-in.tsx';

const queries = new QueryClient(); // for visitors who have not signed in

function App() {
  const now = useSession();
  if (now.state === 'signed-in')
    return (
      <PortalProvider key={now.who} baseUrl="" tenant={tenantId} token={freshToken} isPage>
        <Inside by={now.by} />
      </PortalProvider>
    );
  if (now.state === 'asking') return <Ask {...now} />;
  if (now.state === 'signed-out') return <SignIn {...now} />;
  return (
    <main className="stak-portal stak-portal-alone">
      <p role="status">
        {now.state === 'expired'
          ? 'You have been signed out. Open this page again from where you came.'
          : 'Loading…'}
      </p>
    </main>
  );
}

function Ask({ given, who }: { given: string; who: string }) {
  return (
    <main className="stak-portal stak-portal-alone">
      <h1>{`Continue as ${who}?`}</h1>
      <p>This link signs you in. Continue only if it is from somebody you trust, and this is you.</p>
      <button type="button" className="stak-portal-main" onClick={() => session.accept(given)}>
        Continue
      </button>
      <button type="button" onClick={() => void session.decline()}>
        Do not sign in
      </button>
    </main>
  );
}

function Inside({ by }: { by: 'host' | 'cookie' }) {
  const signOut = (
    <button type="button" onClick={() => void session.signOut()}>
      Sign out
    </button>
  );
  return (
    <Portal
      page={usePage()}
      onPage={go}
      hrefOf={hrefOf}
      morePages={adminPagesOf}
      actions={by === 'cookie' && signOut}
    />
  );
}

// Most users are not admins, so the admin pages are loaded on demand.
const Admin = lazy(() => import('./admin/admin.tsx'));

const adminLabels = {
  users: 'Users',
  settings: 'Settings',
  channels: 'Channels',
  skills: 'Skills',
  usage: 'Usage',
};
export type AdminPage = keyof typeof adminLabels;

function adminPagesOf({ user, scope }: PortalUser): PortalPage[] {
  if (user?.role !== 'admin' || !scope.split(' ').includes('tenant:manage')) return [];
  return Object.entries(adminLabels).map(([page, label]) => ({
    page: `admin/${page}`,
    label,
    show: () => (
      <Suspense fallback={<p role="status">Loading…</p>}>
        <Admin page={page as AdminPage} />
      </Suspense>
    ),
  }));
}

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <App />
    </QueryClientProvider>
  </StrictMode>,
);
void session.start();
