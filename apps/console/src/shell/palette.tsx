import '@mantine/spotlight/styles.css';
import { Kbd } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { createSpotlight, Spotlight, useSpotlight } from '@mantine/spotlight';
import { IconArrowRight, IconHistory, IconSearch } from '@tabler/icons-react';
import { useQueries } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { complain } from '../components/feedback/complaint.ts';
import { inboxesQuery } from '../pages/inbox/queries.ts';
import { useRows } from '../queries/answers.ts';
import { client } from '../queries/api.ts';
import { usersQuery } from '../queries/tenants.ts';
import { formatAgo } from '../text/format.ts';
import { kindOfId } from '../text/ids.ts';
import type { PageLink } from './navigation.tsx';
import { type Action, usePaletteActions } from './palette-actions.tsx';
import { useRecentPages } from './recent-pages.ts';

type Group = { label: string; actions: Action[] };

const [store, spotlight] = createSpotlight();
const listId = 'palette-results';

const shownMost = 7; // of each kind
const searchedTenants = 5; // whose users and inboxes are searched, one request each
const searchedInboxes = 5;
const searchedSends = 100; // the newest of each inbox, searched by title and id

// Opens pages, creates things, and finds them by name or id.
export default function Palette({ pages }: { pages: readonly PageLink[] }) {
  const [text, setText] = useState('');
  const [q] = useDebouncedValue(text.trim(), 200);
  useEffect(() => spotlight.open(), []);
  const recentPages = useRecentPages();
  const groups = useGroups(text.trim(), q, pages, recentPages).filter(({ actions }) => actions.length > 0);
  const onKeyDown = useFirstSelected(
    text,
    groups.flatMap(({ actions }) => actions.map(action => action.id)).join(),
  );
  const [hasActed, setHasActed] = useState(false); // an action takes the focus with it
  return (
    <Spotlight.Root
      store={store}
      query={text}
      onQueryChange={setText}
      returnFocus={!hasActed}
      clearQueryOnClose
      shortcut={null}
      attributes={{ content: { 'aria-label': 'Search and actions' } }}
      scrollable
      maxHeight={420}
    >
      <Spotlight.Search
        placeholder="Go to a page, search, or paste an id"
        aria-label="Search everything"
        onKeyDown={onKeyDown}
        leftSection={<IconSearch size={18} />}
      />
      <Spotlight.ActionsList id={listId}>
        {groups.length === 0 && <Spotlight.Empty>Nothing found.</Spotlight.Empty>}
        {groups.map(({ label, actions }) => (
          <Spotlight.ActionsGroup key={label} label={label}>
            {actions.map(({ id, label: name, description, icon: Icon = IconArrowRight, keys, go }) => (
              <Spotlight.Action
                key={id}
                label={name}
                description={description}
                leftSection={<Icon size={18} stroke={1.6} aria-hidden />}
                rightSection={keys && <Kbd size="xs">{keys}</Kbd>}
                onClick={async () => {
                  setHasActed(true);
                  await go();
                  if (label !== 'Actions') recentPages.remember(name);
                }}
              />
            ))}
          </Spotlight.ActionsGroup>
        ))}
      </Spotlight.ActionsList>
    </Spotlight.Root>
  );
}

// As the component does for the arrow keys: it marks the element, and remembers its place.
function selectFirst(): HTMLElement | null {
  const list = document.getElementById(listId);
  list?.querySelector('[data-selected]')?.removeAttribute('data-selected');
  const first = list?.querySelector<HTMLElement>('[data-action]') ?? null;
  first?.setAttribute('data-selected', 'true');
  store.updateState(state => ({ ...state, selected: 0 }));
  return first;
}

// Keeps the first result selected, also when results come in later, until an arrow key selects another one. Enter that
// is pressed before the first result is there opens it when it comes.
function useFirstSelected(text: string, ids: string) {
  const movedIn = useRef<string>(undefined); // the texts in which a key was pressed
  const enteredIn = useRef<string>(undefined);
  const { opened } = useSpotlight(store);
  useEffect(() => {
    if (!opened) movedIn.current = undefined;
    if (!opened || ids === '' || movedIn.current === text) return;
    // The list is there in the next frame after it was opened.
    const frame = requestAnimationFrame(() => {
      const first = selectFirst();
      if (enteredIn.current !== text) return;
      enteredIn.current = undefined;
      first?.click();
    });
    return () => cancelAnimationFrame(frame);
  }, [text, ids, opened]);
  return ({ key }: KeyboardEvent) => {
    if (key === 'ArrowDown' || key === 'ArrowUp') movedIn.current = text;
    if (key === 'Enter' && ids === '') enteredIn.current = text;
  };
}

function useGroups(
  text: string,
  q: string,
  pages: readonly PageLink[],
  { recent, open }: Pick<ReturnType<typeof useRecentPages>, 'recent' | 'open'>,
): Group[] {
  const navigate = useNavigate();
  const sources = useRows(['sources'], () => client.webhooks.listSources());
  const tenants = useRows(['tenants'], () => client.tenants.list({ limit: 100 }));
  const isText = q.length > 1 && kindOfId(q) === undefined;
  const tasks = useRows(['palette-tasks', q], () => client.tasks.search({ q, limit: shownMost }), {
    enabled: isText,
  });
  const events = useRows(
    ['palette-events', q],
    () => client.webhooks.listAllEvents({ q, limit: shownMost }),
    { enabled: isText },
  );
  const users = useQueries({
    queries: (tenants.data ?? [])
      .slice(0, searchedTenants)
      .map(({ tenant_id }) => ({ ...usersQuery(tenant_id), enabled: isText })),
    combine: results => results.flatMap(result => result.data ?? []),
  });
  const sends = useRecentSends(
    (tenants.data ?? []).slice(0, searchedTenants).map(({ tenant_id }) => tenant_id),
    isText,
  );
  const actions = usePaletteActions();
  const recentActions = recent.map(({ label, href }) => ({
    id: href,
    label,
    icon: IconHistory,
    go: () => open(href),
  }));
  const matches = (...texts: string[]) => texts.some(one => one.toLowerCase().includes(text.toLowerCase()));
  const toTask = (task: string) => navigate({ to: '/tasks', search: { task } });
  const toEvent = async (eventId: string) => {
    const { sourceId } = (await client.webhooks.readEvent({ eventId })).data;
    return navigate({
      to: '/webhooks/$source/events/$event',
      params: { source: sourceId, event: eventId },
    });
  };
  const toConnection = async (connectionId: string) => {
    const { sourceId } = (await client.webhooks.readConnection({ connectionId })).data;
    return navigate({
      to: '/webhooks/$source',
      params: { source: sourceId },
      search: { tab: 'connections', connection: connectionId },
    });
  };
  const toSource = (source: string) => navigate({ to: '/webhooks/$source', params: { source } });
  const byKind = { event: toEvent, connection: toConnection, source: toSource, task: toTask };
  const kind = kindOfId(text);
  const found: Action[] = kind
    ? [
        {
          id: text,
          label: `Open ${kind} ${text}`,
          go: () => Promise.resolve(byKind[kind](text)).catch(complain),
        },
      ]
    : [];
  return [
    { label: 'By id', actions: found },
    {
      label: 'Recent',
      actions: text === '' ? recentActions : [],
    },
    {
      label: 'Actions',
      actions: actions.filter(({ label, description = '' }) => matches(label, description)),
    },
    {
      label: 'Pages',
      actions: pages
        .filter(({ label }) => matches(label))
        .map(({ to, label, search = {} }) => ({ id: label, label, go: () => navigate({ to, search }) })),
    },
    {
      label: 'Sources',
      actions: (text === '' ? [] : (sources.data ?? []))
        .filter(({ name, sourceId }) => matches(name, sourceId))
        .slice(0, shownMost)
        .map(({ sourceId, name }) => ({
          id: sourceId,
          label: name,
          description: sourceId,
          go: () => toSource(sourceId),
        })),
    },
    {
      label: 'Tenants',
      actions: (text === '' ? [] : (tenants.data ?? []))
        .filter(({ name, tenant_id }) => matches(name, tenant_id))
        .slice(0, shownMost)
        .map(({ tenant_id, name }) => ({
          id: tenant_id,
          label: name,
          description: tenant_id,
          go: () => navigate({ to: '/tenants/$tenant', params: { tenant: tenant_id } }),
        })),
    },
    {
      label: 'Tasks',
      actions: (text === '' ? [] : (tasks.data ?? [])).map(({ task_id, title }) => ({
        id: task_id,
        label: title,
        go: () => toTask(task_id),
      })),
    },
    {
      label: 'Recent messages',
      actions: (text === '' ? [] : sends)
        .filter(({ title, id }) => matches(title ?? '', id))
        .slice(0, shownMost)
        .map(({ id, title, received, tenant_id, inbox_key }) => ({
          id,
          label: title ?? id,
          description: `${inbox_key} of ${tenant_id}, ${formatAgo(received * 1000)}`,
          go: () =>
            navigate({
              to: '/inbox',
              search: { tenant: tenant_id, inbox: inbox_key, tab: 'sent', send: id },
            }),
        })),
    },
    {
      label: 'Users',
      actions: (text === '' ? [] : users)
        .filter(({ display_name, user_id, email = '' }) => matches(display_name, user_id, email ?? ''))
        .slice(0, shownMost)
        .map(({ tenant_id, user_id, display_name }) => ({
          id: `${tenant_id}/${user_id}`,
          label: display_name,
          description: `${user_id} in ${tenant_id}`,
          go: () => navigate({ to: '/tenants/$tenant', params: { tenant: tenant_id } }),
        })),
    },
    {
      label: 'Recent events with this text',
      actions: (text === '' ? [] : (events.data ?? [])).map(
        ({ eventId, sourceId, eventType, receivedAt }) => ({
          id: eventId,
          label: eventType ?? eventId,
          description: `${eventId}, ${formatAgo(receivedAt)}`,
          go: () =>
            navigate({
              to: '/webhooks/$source/events/$event',
              params: { source: sourceId, event: eventId },
            }),
        }),
      ),
    },
  ];
}

// The API cannot search messages by text, so the latest ones are loaded and searched here.
function useRecentSends(tenant_ids: readonly string[], isEnabled: boolean) {
  const inboxes = useQueries({
    queries: tenant_ids.map(tenant_id => ({ ...inboxesQuery(tenant_id), enabled: isEnabled })),
    combine: results =>
      results.flatMap(({ data = [] }, index) =>
        data.map(({ inbox_key }) => ({ tenant_id: tenant_ids[index]!, inbox_key })),
      ),
  });
  return useQueries({
    queries: inboxes.slice(0, searchedInboxes).map(inboxPath => ({
      queryKey: ['palette-sends', inboxPath.tenant_id, inboxPath.inbox_key],
      queryFn: async () => {
        const { data } = await client.inbox.listSends({ ...inboxPath, limit: searchedSends });
        return data.data.map(send => ({ ...send, ...inboxPath }));
      },
      enabled: isEnabled,
    })),
    combine: results => results.flatMap(({ data }) => data ?? []),
  });
}
