import { createAccounts, type PasswordCost } from '@stak/accounts';
import type { AnyEndpoint, Authenticate } from '@stak/http';
import type { Clock, ErrorCatalogue, Ids, Logger, Sealer, Worker } from '@stak/kit';
import type { Subscription } from '@stak/streams';
import type { AnyTable, Store } from '@stak/table';
import { createTenants, type Eraser } from '@stak/tenants';
import type { ServerConfig } from './config.ts';

export type Surroundings = {
  store: Store;
  clock: Clock;
  ids: Ids;
  log: Logger;
  sealer: Sealer;
  publicUrl: string;
  config: Pick<ServerConfig, 'corsOrigins' | 'github' | 'google' | 'stripe' | 'outboundAllow'>;
  passwordCost?: PasswordCost;
};

// What each service brings along, for whoever serves, runs or describes it.
export type Service = {
  api: readonly AnyEndpoint[];
  errors: ErrorCatalogue;
  tables: readonly AnyTable[];
  subscriptions: readonly Subscription[];
  workers: readonly Worker[];
};

export type Services = {
  all: readonly Service[];
  authenticate: Authenticate;
  accounts: ReturnType<typeof createAccounts>;
  tenants: ReturnType<typeof createTenants>;
  settle(): Promise<void>; // when the writes nobody waits for have been made
};

// The services know each other by the functions they are given here, and by nothing else.
export function composeServices(surroundings: Surroundings): Services {
  const { store, clock, ids, log, sealer, publicUrl, config } = surroundings;
  const base = { store, clock, ids, log };
  // Asked for when something is erased, when all of them are there.
  const erasers = (): readonly Eraser[] => [tenants.eraser];

  const accounts = createAccounts({
    ...base,
    sealer,
    publicUrl,
    allowedOrigins: config.corsOrigins,
    erasers,
    checkEndUser: async claims => !(await tenants.isTokenRevoked(claims)),
    github: config.github,
    google: config.google,
    stripe: config.stripe,
    passwordCost: surroundings.passwordCost,
  });
  const tenants = createTenants({
    ...base,
    mintEndUserToken: async grant => {
      const { token, expiresIn } = await accounts.mintEndUserToken(grant);
      return { token, expires_at: new Date(clock.now() + expiresIn * 1000).toISOString() };
    },
    erasers: () => erasers().filter(eraser => eraser !== tenants.eraser),
    audit: ({ account_id, actor, action, target, address, request_id }) => {
      const [via, credentialId] = actor.split(':', 2);
      const origin = { address, requestId: request_id };
      return accounts.audit.record(account_id, { action, target, via: via!, credentialId, ...origin });
    },
  });

  return {
    all: [accounts, tenants],
    authenticate: accounts.authenticate,
    accounts,
    tenants,
    settle: accounts.settle,
  };
}
