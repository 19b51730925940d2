import { Inbox, InboxProvider } from '@stak/inbox-react';
import { useState } from 'react';
import type { Me } from '../queries.ts';
import { freshToken, tenantId } from '../session.ts';

export function InboxPage({ inboxes }: { inboxes: Me['inboxes'] }) {
  const [chosen, setChosen] = useState(inboxes[0]?.inbox_key);
  const open = inboxes.find(one => one.inbox_key === chosen);
  return (
    <section>
      <h1>Inbox</h1>
      {inboxes.length > 1 && (
        <div className="bar">
          <select aria-label="Which inbox" value={chosen} onChange={event => setChosen(event.target.value)}>
            {inboxes.map(one => (
              <option key={one.inbox_key} value={one.inbox_key}>
                {one.title}
              </option>
            ))}
          </select>
        </div>
      )}
      {open ? (
        <InboxProvider
          key={open.inbox_key}
          baseUrl=""
          token={freshToken}
          tenant={tenantId}
          inbox={open.inbox_key}
        >
          <Inbox title={open.title} />
        </InboxProvider>
      ) : (
        <p className="dim">Nothing has been sent yet.</p>
      )}
    </section>
  );
}
