import { type Client, type ClientSettings, createClient, type Fetch } from '@stak/client';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useMemo } from 'react';

/** The tenant, the server, and the end user's token. */
export type PortalSettings = {
  baseUrl: string;
  tenant: string;
  /** The end user's token. A function is called again with a refused token to get a new one. */
  token: string | ((refused?: string) => string | Promise<string>);
  fetch?: Fetch;
  /** The components are the whole page: headings start at level 1, there is a `main` element, and they set the title. */
  isPage?: boolean;
};

type Connection = Pick<PortalSettings, 'baseUrl' | 'token'> & {
  client: Client;
  settings: ClientSettings; // the settings of `client`
  tenant_id: string;
  isPage: boolean;
};

const PortalContext = createContext<Connection | undefined>(undefined);

/**
 * Connects the components below it to the server. If `token` is a function, it must be the same between renders, and so
 * must `fetch`.
 *
 *     <PortalProvider baseUrl="https://stak.example" tenant="bookshop" token={token}><Chat /></PortalProvider>
 */
export function PortalProvider({
  children,
  baseUrl,
  tenant: tenant_id,
  token,
  fetch,
  isPage = false,
}: PortalSettings & { children: ReactNode }) {
  // Data read with another token is never shown.
  const { queries, connection } = useMemo(() => {
    const settings = { baseUrl, ...tokenSettings(token), ...(fetch && { fetch }) };
    const client = createClient(settings);
    return {
      queries: new QueryClient({ defaultOptions: { queries: { retry: 1, staleTime: 5_000 } } }),
      connection: { client, settings, tenant_id, baseUrl, token, isPage },
    };
  }, [baseUrl, tenant_id, token, fetch, isPage]);
  return (
    <QueryClientProvider client={queries}>
      <PortalContext.Provider value={connection}>{children}</PortalContext.Provider>
    </QueryClientProvider>
  );
}

export function usePortal(): Connection {
  const connection = useContext(PortalContext);
  if (!connection) throw new Error('There is no <PortalProvider> around this.');
  return connection;
}

function tokenSettings(token: PortalSettings['token']): Pick<ClientSettings, 'token' | 'onUnauthorized'> {
  if (typeof token === 'string') return { token };
  let held: Promise<string> | undefined; // shared by all callers
  const ask = (refused?: string): Promise<string> => {
    const request = (async () => token(refused))();
    held = request;
    // After a failure, the next call tries again.
    request.catch(() => {
      if (held === request) held = undefined;
    });
    return request;
  };
  return {
    token: () => held ?? ask(),
    onUnauthorized: async () => {
      const refused = await held;
      const given = await ask(refused);
      return given !== '' && given !== refused;
    },
  };
}
