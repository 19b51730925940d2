import { type Client, type ClientSettings, createClient, type Fetch } from '@stak/client';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createContext, type ReactNode, use, useMemo } from 'react';

/** Which tenant, and with which token of an end user the server is asked. */
export type PortalSettings = {
  baseUrl: string;
  tenant: string;
  /** Of an end user. A function is called again when a token is refused, with that token. */
  token: string | ((refused?: string) => string | Promise<string>);
  fetch?: Fetch;
  /** The components are the whole page: headings begin at level 1, and there is a main part. */
  isPage?: boolean;
};

type Connection = Pick<PortalSettings, 'baseUrl' | 'token'> & {
  client: Client;
  settings: ClientSettings; // of that client
  tenant_id: string;
  isPage: boolean;
};

const PortalContext = createContext<Connection | undefined>(undefined);

/**
 * What the components below it talk to. Keep `token` the same between renderings if it is a function, and so `fetch`.
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
  // Nothing that was read with another token is shown.
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
      <PortalContext value={connection}>{children}</PortalContext>
    </QueryClientProvider>
  );
}

export function usePortal(): Connection {
  const connection = use(PortalContext);
  if (!connection) throw new Error('There is no <PortalProvider> around this.');
  return connection;
}

function tokenSettings(token: PortalSettings['token']): Pick<ClientSettings, 'token' | 'onUnauthorized'> {
  if (typeof token === 'string') return { token };
  let held: Promise<string> | undefined; // all who wait get the same
  const ask = (refused?: string): Promise<string> => {
    const request = (async () => token(refused))();
    held = request;
    // A token that could not be fetched is asked for again.
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
