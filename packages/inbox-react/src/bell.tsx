import { type ReactNode, useId, useRef, useState } from 'react';
import { useCounts } from './hooks.ts';
import { Inbox } from './inbox.tsx';
import * as limits from './limits.ts';
import { useDismissal } from './menu.tsx';

type Props = {
  count?: 'unread' | 'unseen'; // what the badge counts
  label?: string;
  children?: ReactNode; // the content of the popover, instead of an <Inbox/>
};

/**
 * A button with the number of unread messages, which opens the inbox below it.
 *
 *     <InboxProvider {...settings}>
 *       <Bell />
 *     </InboxProvider>
 */
export function Bell({ count = 'unread', label = 'Notifications', children }: Props) {
  const [isOpen, setIsOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();
  const number = useCounts()?.[count] ?? 0;
  useDismissal(isOpen, root, isByKey => {
    setIsOpen(false);
    if (isByKey) button.current?.focus();
  });

  return (
    <div className="stak-inbox-bell" ref={root}>
      <button
        ref={button}
        type="button"
        aria-label={number > 0 ? `${label}, ${number} ${count}` : label}
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => setIsOpen(!isOpen)}
      >
        <svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true">
          <path d="M6 17V11a6 6 0 0 1 12 0v6l2 2H4zM10 21h4" />
        </svg>
        {number > 0 && (
          <span className="stak-inbox-badge" aria-hidden>
            {number > limits.badgeMost ? `${limits.badgeMost}+` : number}
          </span>
        )}
      </button>
      <span className="stak-inbox-hidden" role="status">
        {number > 0 ? `${number} ${count}` : ''}
      </span>
      {isOpen && (
        <div className="stak-inbox-panel" role="dialog" id={id} aria-label={label}>
          {children ?? <Inbox />}
        </div>
      )}
    </div>
  );
}
