import { type KeyboardEvent, useEffect, useReducer, useState } from 'react';
import { useConnection, useCounts, useMessages } from './hooks.ts';
import * as limits from './limits.ts';
import { Menu } from './menu.tsx';
import type { Filter, Mark, Message, View } from './message.ts';
import { MessageItem, type RenderBody } from './message-item.tsx';
import { readSpans } from './moments.ts';
import { useInbox } from './provider.tsx';

type Tab = { label: string; view: View; isRead?: boolean; empty: string };
const tabs: readonly Tab[] = [
  { label: 'All', view: 'inbox', empty: 'Nothing here. New messages appear by themselves.' },
  { label: 'Unread', view: 'inbox', isRead: false, empty: 'Everything is read.' },
  {
    label: 'Snoozed',
    view: 'snoozed',
    empty: 'Nothing is snoozed. What you snooze waits here and comes back.',
  },
  { label: 'Archived', view: 'archived', empty: 'Nothing is archived.' },
];

type Props = {
  title?: string;
  marksSeen?: boolean; // marks messages as seen once they are shown
  renderBody?: RenderBody; // for bodies that are not plain text
  onArchive?: (message: Message, undo: () => void) => void; // to show a notice, with an undo button
};

/** The whole inbox: tabs, categories, and messages with their actions. Must be inside an `InboxProvider`. */
export function Inbox({ title = 'Inbox', marksSeen = true, renderBody, onArchive }: Props) {
  const [tab, setTab] = useState(tabs[0]!);
  const [category, setCategory] = useState<string>();
  const filter: Filter = { view: tab.view, isRead: tab.isRead, category };
  // A user who opens an unread message wants to read it, so it stays in the list when it is marked.
  const list = useMessages(filter, { keepsMarked: true });
  const { messages, isLoading, hasMore, error, reload, loadMore, mark, markAllRead } = list;
  const counts = useCounts();
  const { markAllSeen } = useInbox();
  const unseen = counts?.unseen ?? 0;
  useTicking();
  useEffect(() => {
    if (marksSeen && unseen > 0) void markAllSeen();
  }, [marksSeen, unseen, markAllSeen]);

  const act = (message: Message, wish: Mark) => {
    void mark(message, wish);
    if (wish.kind === 'archive')
      onArchive?.(message, () => void mark({ ...message, archived: true }, { kind: 'unarchive' }));
  };

  return (
    <section className="stak-inbox" aria-label={title}>
      <header className="stak-inbox-bar">
        <h2>
          {title}
          {counts && counts.unread > 0 && <span className="stak-inbox-count">{counts.unread} unread</span>}
        </h2>
        <Menu
          text="Mark read"
          isDisabled={counts?.unread === 0}
          choices={readSpans(new Date()).map(({ label, since }) => ({
            label,
            choose: () =>
              void markAllRead({
                ...(since !== undefined && { since }),
                ...(category !== undefined && { category }),
              }),
          }))}
        />
      </header>
      <Filters tab={tab} onTab={setTab} category={category} onCategory={setCategory} />
      <ConnectionNotice />
      {error !== undefined && (
        <p className="stak-inbox-notice" role="alert">
          The messages could not be read. {error}{' '}
          <button type="button" className="stak-inbox-button" onClick={() => void reload()}>
            Try again
          </button>
        </p>
      )}
      <ul
        className="stak-inbox-list"
        aria-label="Messages"
        aria-busy={isLoading}
        onKeyDown={moveBetweenTitles}
      >
        {messages.map(message => (
          <MessageItem
            key={message.id}
            message={message}
            renderBody={renderBody}
            onMark={wish => act(message, wish)}
          />
        ))}
      </ul>
      {messages.length === 0 && error === undefined && (
        <p className="stak-inbox-empty">{isLoading ? 'Loading…' : tab.empty}</p>
      )}
      {hasMore && (
        <button
          type="button"
          className="stak-inbox-button stak-inbox-more"
          disabled={isLoading}
          onClick={() => void loadMore()}
        >
          Show older messages
        </button>
      )}
    </section>
  );
}

function Filters({
  tab,
  onTab,
  category,
  onCategory,
}: {
  tab: Tab;
  onTab: (tab: Tab) => void;
  category: string | undefined;
  onCategory: (category: string | undefined) => void;
}) {
  const counts = useCounts();
  // The selected category is listed even if it is empty, or the user could not select another one.
  const chosen = category === undefined ? [] : [category];
  const categories = [...new Set([...Object.keys(counts?.categories ?? {}), ...chosen])].sort();
  return (
    <div className="stak-inbox-bar">
      <fieldset className="stak-inbox-filters" aria-label="Show">
        {tabs.map(one => (
          <button key={one.label} type="button" aria-pressed={one === tab} onClick={() => onTab(one)}>
            {one.label}
          </button>
        ))}
      </fieldset>
      {categories.length > 0 && (
        <select
          className="stak-inbox-button"
          aria-label="Category"
          value={category ?? ''}
          onChange={event => onCategory(event.target.value || undefined)}
        >
          <option value="">All categories</option>
          {categories.map(name => (
            <option key={name} value={name}>
              {name} ({counts?.categories[name]?.unread ?? 0} unread)
            </option>
          ))}
        </select>
      )}
    </div>
  );
}

function ConnectionNotice() {
  const { state, error } = useConnection();
  return (
    <div role="status">
      {state === 'lost' && (
        <p className="stak-inbox-notice">
          Connection lost. What you see may be out of date; it updates when the connection is back.
        </p>
      )}
      {error !== undefined && <p className="stak-inbox-notice">{error}</p>}
    </div>
  );
}

// Updates relative times such as "2 min. ago".
function useTicking(): void {
  const [, tick] = useReducer((ticks: number) => ticks + 1, 0);
  useEffect(() => {
    const timer = setInterval(tick, limits.tickMs);
    return () => clearInterval(timer);
  }, []);
}

// Arrow keys move between messages, in addition to Tab.
function moveBetweenTitles(event: KeyboardEvent<HTMLUListElement>): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const titles = [...event.currentTarget.querySelectorAll<HTMLElement>('.stak-inbox-title')];
  const at = titles.indexOf(document.activeElement as HTMLElement);
  if (step === undefined || at < 0) return;
  event.preventDefault();
  titles[at + step]?.focus();
}
