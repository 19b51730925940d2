import { Bell, InboxProvider } from '@stak/inbox-react';
import { type ComponentType, type MouseEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { Chat as ChatPage } from './pages/chat.tsx';
import { Inboxes as InboxesPage } from './pages/inboxes.tsx';
import { Memory as MemoryPage } from './pages/memory.tsx';
import { Profile as ProfilePage } from './pages/profile.tsx';
import { Tasks as TasksPage } from './pages/tasks.tsx';
import { Loaded } from './parts.tsx';
import { usePortal } from './provider.tsx';
import { type PortalUser, usePortalUser } from './queries.ts';
import { themeOf } from './theme.ts';

/** One page of a portal, and its entry in the navigation. */
export type PortalPage = { page: string; label: string; show: () => ReactNode };

const pages: readonly (Omit<PortalPage, 'show'> & { needs: string; Page: ComponentType })[] = [
  { page: 'chat', label: 'Chat', needs: 'agents:chat', Page: ChatPage },
  { page: 'inbox', label: 'Inbox', needs: 'inbox:read', Page: InboxesPage },
  { page: 'tasks', label: 'Tasks', needs: 'tasks:read', Page: TasksPage },
  { page: 'memory', label: 'Memory', needs: 'agents:chat', Page: MemoryPage },
  { page: 'profile', label: 'Profile', needs: '', Page: ProfilePage },
];

// In the tenant's colours, independent of the styles of the host page.
function Looks({ children }: { children: ReactNode }) {
  const { data } = usePortalUser();
  return (
    <div className="stak-portal" style={data && themeOf(data.portal)}>
      {children}
    </div>
  );
}

const alone = (Page: ComponentType) => () => (
  <Looks>
    <Page />
  </Looks>
);
/** Conversations with the tenant's agent, with streaming answers and approvals. */
export const Chat = alone(ChatPage);
/** The user's inboxes. `@stak/inbox-react` has the parts of one. */
export const Inboxes = alone(InboxesPage);
/** The user's tasks as a board. */
export const Tasks = alone(TasksPage);
/** Shows what the agent remembers about the user, who can edit it, delete it or opt out. */
export const Memory = alone(MemoryPage);
/** The user's own name, address and role. */
export const Profile = alone(ProfilePage);

type PortalProps = {
  page?: string; // the page shown; without it, the portal keeps its own state
  onPage?: (page: string) => void;
  hrefOf?: (page: string) => string; // turns the navigation entries into links
  morePages?: (user: PortalUser) => readonly PortalPage[];
  actions?: ReactNode; // at the end of the header
};

/** All pages that the token allows, with a header, a notification bell and a navigation. */
export function Portal(props: PortalProps) {
  const user = usePortalUser();
  return (
    <Looks>
      {user.data ? (
        <Frame user={user.data} {...props} />
      ) : (
        <Content>
          <Loaded query={user}>{() => null}</Loaded>
        </Content>
      )}
    </Looks>
  );
}

function Frame({
  user,
  page: given,
  onPage,
  hrefOf,
  morePages,
  actions,
}: PortalProps & { user: PortalUser }) {
  const { baseUrl, token, tenant_id, isPage } = usePortal();
  const [kept, setKept] = useState<string>();
  const held = new Set(user.scope.split(' '));
  const entries: PortalPage[] = [
    ...pages
      .filter(({ needs }) => needs === '' || held.has(needs))
      .map(({ Page, ...entry }) => ({ ...entry, show: () => <Page /> })),
    ...(morePages?.(user) ?? []),
  ];
  const shown = entries.find(({ page }) => page === (given ?? kept)) ?? entries[0]!;
  const go = (page: string) => {
    setKept(page);
    onPage?.(page);
  };
  const navigation = useRef<HTMLElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page has another entry
  useEffect(() => {
    const bar = navigation.current!;
    const entry = bar.querySelector<HTMLElement>('[aria-current=page]')!;
    // Not `scrollIntoView`, which could also scroll the host page.
    bar.scrollLeft = entry.offsetLeft - bar.offsetLeft - (bar.clientWidth - entry.clientWidth) / 2;
  }, [shown.page]);
  const title = `${shown.label} · ${user.portal.name}`;
  useEffect(() => {
    if (isPage) document.title = title;
  }, [isPage, title]);
  const [first] = user.inboxes;
  const hasInbox = first !== undefined && held.has('inbox:read');

  const content = (
    <>
      <header className="stak-portal-top">
        {user.portal.logo !== undefined && <img className="stak-portal-logo" src={user.portal.logo} alt="" />}
        <strong>{user.portal.name}</strong>
        <span className="stak-portal-space" />
        {hasInbox && <Bell />}
        {actions}
      </header>
      <nav aria-label="Pages" ref={navigation}>
        {entries.map(({ page, label }) => (
          <Entry key={page} isShown={page === shown.page} href={hrefOf?.(page)} onGo={() => go(page)}>
            {label}
          </Entry>
        ))}
      </nav>
      <Content key={shown.page}>{shown.show()}</Content>
    </>
  );
  if (!hasInbox) return content;
  return (
    <InboxProvider baseUrl={baseUrl} token={token} tenant={tenant_id} inbox={first.inbox_key}>
      {content}
    </InboxProvider>
  );
}

type EntryProps = { isShown: boolean; href: string | undefined; onGo: () => void; children: string };

function Entry({ isShown, href, onGo, children }: EntryProps) {
  const current = isShown ? 'page' : undefined;
  if (href === undefined)
    return (
      <button type="button" aria-current={current} onClick={onGo}>
        {children}
      </button>
    );
  const onClick = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    onGo();
  };
  return (
    <a href={href} aria-current={current} onClick={onClick}>
      {children}
    </a>
  );
}

function Content({ children }: { children: ReactNode }) {
  const { isPage } = usePortal();
  const Element = isPage ? 'main' : 'div';
  return <Element className="stak-portal-content">{children}</Element>;
}
