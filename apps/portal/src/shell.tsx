import { Bell, InboxProvider } from '@stak/inbox-react';
import { useQuery } from '@tanstack/react-query';
import { lazy, type ReactNode, Suspense, useEffect } from 'react';
import { Loaded, PageLink } from './components.tsx';
import { Chat } from './pages/chat.tsx';
import { InboxPage } from './pages/inbox.tsx';
import { Memory } from './pages/memory.tsx';
import { Profile } from './pages/profile.tsx';
import { Tasks } from './pages/tasks.tsx';
import { type Me, meKey, readMe } from './queries.ts';
import { usePage } from './router.ts';
import { freshToken, session, tenantId } from './session.ts';
import { Logo } from './sign-in.tsx';
import { applyTheme } from './theme.ts';

// Most people are no admins: what only those see is loaded when they do.
const Admin = lazy(() => import('./admin/admin.tsx'));

type Page = { page: string; label: string; needs: string; show: (me: Me) => ReactNode };
const pages: readonly Page[] = [
  { page: 'chat', label: 'Chat', needs: 'agents:chat', show: () => <Chat /> },
  { page: 'inbox', label: 'Inbox', needs: 'inbox:read', show: me => <InboxPage inboxes={me.inboxes} /> },
  { page: 'tasks', label: 'Tasks', needs: 'tasks:read', show: () => <Tasks /> },
  { page: 'memory', label: 'Memory', needs: 'agents:chat', show: () => <Memory /> },
  { page: 'profile', label: 'Profile', needs: '', show: me => <Profile me={me} /> },
];
const adminPages = ['users', 'settings', 'channels', 'skills', 'usage'] as const;
const adminLabels = {
  users: 'Users',
  settings: 'Settings',
  channels: 'Channels',
  skills: 'Skills',
  usage: 'Usage',
};

export function Shell({ by }: { by: 'host' | 'cookie' }) {
  const me = useQuery({ queryKey: meKey, queryFn: readMe });
  useEffect(() => {
    if (me.data) applyTheme(me.data.portal);
  }, [me.data]);
  if (me.data) return <Frame me={me.data} by={by} />;
  return (
    <main className="alone">
      <Loaded query={me}>{() => null}</Loaded>
    </main>
  );
}

function Frame({ me, by }: { me: Me; by: 'host' | 'cookie' }) {
  const asked = usePage();
  const held = new Set(me.scope.split(' '));
  const open = pages.filter(({ needs }) => needs === '' || held.has(needs));
  const isAdmin = me.user?.role === 'admin' && held.has('tenant:manage');
  const admin = isAdmin ? adminPages.find(page => asked === `admin/${page}`) : undefined;
  const shown = open.find(({ page }) => page === asked) ?? open[0]!;
  const now = admin ? `admin/${admin}` : shown.page;
  const [first] = me.inboxes;

  const content = (
    <>
      <header className="top">
        <Logo portal={me.portal} />
        <strong>{me.portal.name}</strong>
        <span className="space" />
        {first && held.has('inbox:read') && <Bell />}
        {by === 'cookie' && (
          <button type="button" onClick={() => void session.signOut()}>
            Sign out
          </button>
        )}
      </header>
      <nav aria-label="Pages">
        {open.map(({ page, label }) => (
          <PageLink key={page} page={page} now={now}>
            {label}
          </PageLink>
        ))}
        {isAdmin &&
          adminPages.map(page => (
            <PageLink key={page} page={`admin/${page}`} now={now}>
              {adminLabels[page]}
            </PageLink>
          ))}
      </nav>
      <main>
        {admin ? (
          <Suspense fallback={<p role="status">Loading…</p>}>
            <Admin page={admin} />
          </Suspense>
        ) : (
          shown.show(me)
        )}
      </main>
    </>
  );
  if (!first || !held.has('inbox:read')) return content;
  return (
    <InboxProvider baseUrl="" token={freshToken} tenant={tenantId} inbox={first.inbox_key}>
      {content}
    </InboxProvider>
  );
}

export type AdminPage = (typeof adminPages)[number];
