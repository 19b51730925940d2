import { Inbox, InboxProvider } from '@stak/inbox-react';
import { useState } from 'react';
import { Loaded, Title } from '../parts.tsx';
import { usePortal } from '../provider.tsx';
import { type PortalUser, usePortalUser } from '../queries.ts';

export function Inboxes() {
  return (
    <section>
      <Title>Inbox</Title>
      <Loaded query={usePortalUser()}>{({ inboxes }) => <Chosen inboxes={inboxes} />}</Loaded>
    </section>
  );
}

function Chosen({ inboxes }: { inboxes: PortalUser['inboxes'] }) {
  const { baseUrl, token, tenant_id } = usePortal();
  const [chosen, setChosen] = useState(inboxes[0]?.inbox_key);
  const open = inboxes.find(inbox => inbox.inbox_key === chosen);
  return (
    <>
      {inboxes.length > 1 && (
        <div className="stak-portal-bar">
          <select aria-label="Which inbox" value={chosen} onChange={event => setChosen(event.target.value)}>
            {inboxes.map(inbox => (
              <option key={inbox.inbox_key} value={inbox.inbox_key}>
                {inbox.title}
              </option>
            ))}
          </select>
        </div>
      )}
      {open ? (
        <InboxProvider
          key={open.inbox_key}
          baseUrl={baseUrl}
          token={token}
          tenant={tenant_id}
          inbox={open.inbox_key}
        >
          <Inbox title={open.title} />
        </InboxProvider>
      ) : (
        <p className="stak-portal-dim">Nothing has been sent yet.</p>
      )}
    </>
  );
}
