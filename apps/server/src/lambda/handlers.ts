import { createIds, createLogger, createSealer, type Sealer, systemClock } from '@stak/kit';
import { type LambdaAnswer, type LambdaEvent, toLambda } from '@stak/streams';
import { createCursors, createLedger, createStore } from '@stak/table';
import { composeServices } from '../compose.ts';
import { loadEnvFile, readServerConfig, withoutEmpty } from '../config.ts';
import { openDatabase } from '../database.ts';
import { readSecretKeys } from '../secrets.ts';

// The stream consumers that can run as Lambda functions, each an export of one bundle: build-handlers.mjs makes it.
// They are composed as in a server, so what they do is the same.

type Handler = (event: LambdaEvent, lambda: { getRemainingTimeInMillis(): number }) => Promise<LambdaAnswer>;

export const accountsAudit = handlerOf('accounts-audit');
export const agentsApprovals = handlerOf('agents-approvals');
export const agentsDocumentedItem = handlerOf('agents-documented-item');
export const inboxExpiries = handlerOf('inbox-expiries');
export const inboxReads = handlerOf('inbox-reads');
export const tasksSettings = handlerOf('tasks-settings');
export const webhooksAlerts = handlerOf('webhooks-alerts');

// Composed by the first call. One that fails is repeated by Lambda, and then composed anew.
function handlerOf(consumer: string): Handler {
  let composed: Promise<Handler> | undefined;
  return async (event, lambda) => {
    composed ??= compose(consumer);
    const handler = await composed.catch(error => {
      composed = undefined;
      throw error;
    });
    return handler(event, lambda);
  };
}

async function compose(consumer: string): Promise<Handler> {
  const config = readServerConfig({}, { STAK_SECRET_KEYS: 'none', ...withoutEmpty(loadEnvFile()) });
  const hasKeys = config.secretKeys?.[0] !== 'none';
  const { client, source } = await openDatabase(config.store);
  const clock = systemClock;
  const log = createLogger({ level: config.logLevel });
  const ledger = createLedger();
  const cursors = createCursors(); // nobody asks a handler for pages
  const services = composeServices({
    store: createStore({ client, clock, ledger, cursors }),
    client,
    cursors,
    clock,
    ids: createIds({ clock }),
    log,
    sealer: hasKeys ? createSealer({ keys: await readSecretKeys(config) }) : refusingSealer,
    publicUrl: config.publicUrl ?? '',
    config,
    system: { source, ledger, workers: () => [] },
  });
  const subscription = services.all.flatMap(one => one.subscriptions).find(({ name }) => name === consumer);
  if (!subscription) throw new Error(`there is no consumer ${consumer}`);
  return toLambda(subscription, { client, log });
}

const refuse = (): never => {
  throw new Error('this function has no STAK_SECRET_KEYS');
};
const refusingSealer: Sealer = { seal: refuse, open: refuse, openText: refuse, isStale: refuse };
