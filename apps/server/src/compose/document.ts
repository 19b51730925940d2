import { type ApiDocument, type ApiInfo, createApi, createMemoryIdempotency } from '@stak/http';
import { createIds, createLogger, createSealer, type ErrorCatalogue, systemClock } from '@stak/kit';
import { createCursors, createLedger, createStore, type DynamoClient, tableErrors } from '@stak/table';
import manifest from '../../package.json' with { type: 'json' };
import { readServerConfig } from '../config/config.ts';
import { annotate } from '../http/reference/annotate.ts';
import { composeServices, endpointsOf, type Services } from './compose.ts';

export const apiInfo: ApiInfo = {
  title: 'Stak',
  version: manifest.version,
  description:
    'Webhooks, inboxes, tasks and agents of a multi-tenant SaaS. Sign in, make an API key, and send it as `Authorization: Bearer …`.',
};

// The services without a store, to generate documents from. Nothing is opened, and nothing can be called.
export function describeServices(): Services {
  const nowhere = <Port extends object>() =>
    new Proxy({} as Port, {
      get: () => () => Promise.reject(new Error('There is nothing behind a description')),
    });
  return composeServices({
    store: createStore({ client: nowhere<DynamoClient>() }),
    cursors: createCursors(),
    clock: systemClock,
    ids: createIds({ clock: systemClock }),
    log: createLogger({ level: 'silent' }),
    sealer: createSealer({ keys: [{ id: 'none', secret: 'nothing is sealed with this' }] }),
    publicUrl: 'http://127.0.0.1:8787',
    config: readServerConfig({}, {}),
    client: nowhere(),
    system: { source: nowhere(), ledger: createLedger(), workers: () => [] },
    explorer: {
      client: nowhere(),
      control: nowhere(),
      source: nowhere(),
      ledger: createLedger(),
      operators: [],
    },
    lake: { objects: nowhere(), client: nowhere(), source: nowhere(), scratch: '' },
  });
}

export function describeApi(): ApiDocument {
  const services = describeServices();
  const api = createApi({
    info: apiInfo,
    endpoints: endpointsOf(services),
    guards: services.guards,
    errors: [tableErrors, ...services.all.map(service => service.errors)],
    authenticate: async () => undefined,
    clock: systemClock,
    log: createLogger({ level: 'silent' }),
    idempotency: createMemoryIdempotency({ clock: systemClock }),
  });
  return api.document();
}

// The document for readers: with a text and an example for everything.
export const describeReference = (): ApiDocument => annotate(describeApi());

export const serviceErrors = (): ErrorCatalogue[] => describeServices().all.map(service => service.errors);
