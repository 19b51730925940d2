import { createContext, type ReactNode, useContext, useEffect, useMemo } from 'react';
import { connectInbox, type InboxConnection, type Settings } from './inbox-connection.ts';

const InboxContext = createContext<InboxConnection | undefined>(undefined);

/**
 * Provides one connection to every component below it. If `token` is a function, it must be the same between renders,
 * and so must `fetch`.
 *
 *     <InboxProvider baseUrl="https://stak.example.com" token={token} tenant="acme" inbox="news">
 *       <Inbox />
 *     </InboxProvider>
 */
export function InboxProvider({
  children,
  baseUrl,
  token,
  tenant,
  inbox,
  user = 'me',
  fetch,
}: Settings & { children: ReactNode }) {
  const connection = useMemo(
    () => connectInbox({ baseUrl, token, tenant, inbox, user, ...(fetch && { fetch }) }),
    [baseUrl, token, tenant, inbox, user, fetch],
  );
  useEffect(() => connection.open(), [connection]);
  return <InboxContext.Provider value={connection}>{children}</InboxContext.Provider>;
}

export function useInbox(): InboxConnection {
  const connection = useContext(InboxContext);
  if (!connection) throw new Error('There is no <InboxProvider> around this.');
  return connection;
}
