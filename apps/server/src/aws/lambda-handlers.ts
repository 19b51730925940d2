import { createIds, createLogger, createSealer, systemClock } from '@stak/kit';
import { type LambdaAnswer, type LambdaEvent, toLambda } from '@stak/streams';
import { createCursors, createLedger, createStore } from '@stak/table';
import { composeServices } from '../compose/compose.ts';
import { loadEnvFile, readServerConfig, withoutEmpty } from '../config/config.ts';
import { readSecretKeys, refusingSealer } from '../config/secrets.ts';
import { openDatabase } from '../store/database.ts';
import { lambdaFunctions } from './lambda-functions.ts';

// The stream consumers that can run in Lambda: a function for each table, exported from one bundle that
// build-handlers.mjs builds. They are composed as in a server, so they behave the same.

type Handler = (event: LambdaEvent, lambda: { getRemainingTimeInMillis(): number }) => Promise<LambdaAnswer>;

export const ferryhookMain = handlerOf('ferryhookMain');
export const conversations = handlerOf('conversations');
export const inbox = handlerOf('inbox');
export const tasks = handlerOf('tasks');

// Composed by the first call. If that fails, Lambda retries, and it is composed again.
function handlerOf(name: string): Handler {
  let composed: Promise<readonly Handler[]> | undefined;
  return async (event, lambda) => {
    composed ??= compose(name);
    const handlers = await composed.catch(error => {
      composed = undefined;
      throw error;
    });
    // Each consumer is independent: a record that one of them cannot handle does not block the others.
    const answers = await Promise.all(handlers.map(handle => handle(event, lambda)));
    return firstOf(event, answers);
  };
}

// The earliest record that one of them has to see again. The others see it once more, too.
function firstOf({ Records }: LambdaEvent, answers: readonly LambdaAnswer[]): LambdaAnswer {
  const failed = new Set(
    answers.flatMap(answer => answer.batchItemFailures).map(failure => failure.itemIdentifier),
  );
  const first = Records.find(({ dynamodb }) => failed.has(dynamodb?.SequenceNumber ?? ''));
  return { batchItemFailures: first ? [{ itemIdentifier: first.dynamodb?.SequenceNumber ?? '' }] : [] };
}

async function compose(name: string): Promise<readonly Handler[]> {
  const config = readServerConfig({}, { STAK_SECRET_KEYS: 'none', ...withoutEmpty(loadEnvFile()) });
  const hasKeys = config.secretKeys?.[0] !== 'none';
  const { client, source } = await openDatabase(config.store);
  const clock = systemClock;
  const log = createLogger({ level: config.logLevel });
  const ledger = createLedger();
  const cursors = createCursors(); // handlers return no pages
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
  const subscriptions = services.all.flatMap(service => service.subscriptions);
  const { consumers } = lambdaFunctions.find(lambdaFunction => lambdaFunction.name === name)!;
  return consumers.map(consumer => {
    const subscription = subscriptions.find(subscription => subscription.name === consumer);
    if (!subscription) throw new Error(`there is no consumer ${consumer}`);
    return toLambda(subscription, { client, log });
  });
}
