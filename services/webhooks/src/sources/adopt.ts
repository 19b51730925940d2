import { looksSealed } from '@stak/kit';
import { failedStep, is, type NamedStep, type Store, write } from '@stak/table';
import type { z } from 'zod';
import { retryConfigSchema } from '../delivery/retry.ts';
import { filtersSchema } from '../filters/schema.ts';
import * as limits from '../limits.ts';
import { type Connection, connection, connectionPointer, type Source, source } from '../main-table.ts';
import { readSigningAlgorithm } from '../signatures/custom.ts';
import { connectionSecretContext, type Secrets, sourceSecretContext } from '../signatures/secrets.ts';
import { transformSchema } from '../transforms/schema.ts';

// Sources and connections that another program wrote as the document describes lack what this service adds: a version,
// settings, and seals on their secrets. They get them when they are first read. What the document does not allow is
// left alone, as if it were not there.

export type AdoptDeps = { store: Store; secrets: Pick<Secrets, 'seal'> };

const isForeign = ({ version }: { version?: number }): boolean => version === undefined;

export async function adoptSource(deps: AdoptDeps, stored: Source): Promise<Source | undefined> {
  if (!isForeign(stored)) return stored;
  const { userId, sourceId, signingSecret } = stored;
  const whole = wholeSource(stored);
  if (!whole) return undefined;
  const sealed =
    signingSecret &&
    !looksSealed(signingSecret) &&
    deps.secrets.seal(signingSecret, sourceSecretContext(sourceId, 'signingSecret'));
  const set = { ...newSettings(stored, whole), ...(sealed && { signingSecret: sealed }) };
  const step = write.update(source, { userId, sourceId }, { set }, onlyForeign);
  await adopt(deps, [['source', step]]);
  return deps.store.get(source, { userId, sourceId }, { consistent: true });
}

export async function adoptConnection(deps: AdoptDeps, stored: Connection): Promise<Connection | undefined> {
  if (!isForeign(stored)) return stored;
  const { userId, sourceId, connectionId, signingSecret } = stored;
  const whole = wholeConnection(stored);
  if (!whole) return undefined;
  const sealed = looksSealed(signingSecret)
    ? signingSecret
    : deps.secrets.seal(signingSecret, connectionSecretContext(connectionId));
  const set = { ...newSettings(stored, whole), signingSecret: sealed };
  await adopt(deps, [
    ['connection', write.update(connection, { sourceId, connectionId }, { set }, onlyForeign)],
    ['pointer', write.put(connectionPointer, { connectionId, sourceId, userId })],
  ]);
  return deps.store.get(connection, { sourceId, connectionId }, { consistent: true });
}

const onlyForeign = { if: { version: is.absent } } as const;

// Another process may adopt the same item at the same time: then it is done.
async function adopt({ store }: AdoptDeps, steps: readonly NamedStep[]): Promise<void> {
  try {
    await store.transact(steps, { pattern: 'adopt an item' });
  } catch (error) {
    if (failedStep(error) === undefined) throw error;
  }
}

// Only what the item lacks: the other program may have changed the rest since.
function newSettings<T extends object>(stored: T, whole: T): Partial<T> {
  const settings = Object.entries(whole).filter(
    ([name, value]) => name !== 'version' && value !== undefined && value !== stored[name as keyof T],
  );
  return Object.fromEntries(settings) as Partial<T>;
}

const present = <T extends object>(item: T) =>
  Object.fromEntries(
    Object.entries(item).filter(([, value]) => value !== null && value !== ''),
  ) as Partial<T>;

function wholeSource(stored: Source): Source | undefined {
  const given = present(stored);
  if (given.signingAlgorithm !== undefined && !isReadable(given.signingAlgorithm)) return undefined;
  const { createdAt, signingSecret } = given;
  return source.schema.safeParse({
    signatures: signingSecret === undefined ? 'off' : 'reject',
    whilePaused: 'hold',
    updatedAt: createdAt,
    ...given,
    version: 0,
  }).data as Source | undefined;
}

function wholeConnection(stored: Connection): Connection | undefined {
  const given = present(stored);
  const rules = {
    filters: json(filtersSchema, given.filters ?? '[]'),
    transform: json(transformSchema, given.transform ?? '{"type":"passthrough"}'),
    retryConfig: json(retryConfigSchema, given.retryConfig ?? '{}'),
  };
  return connection.schema.safeParse({
    maxConcurrency: limits.concurrency,
    ordered: false,
    breaker: 'closed',
    breakerTrips: 0,
    updatedAt: given.createdAt,
    ...given,
    ...rules,
    version: 0,
  }).data as Connection | undefined;
}

// As it was stored, if it can be read.
function json(schema: z.ZodType, text: string): string | undefined {
  try {
    return schema.safeParse(JSON.parse(text)).success ? text : undefined;
  } catch {
    return undefined;
  }
}

function isReadable(signingAlgorithm: string): boolean {
  try {
    readSigningAlgorithm(signingAlgorithm);
    return true;
  } catch {
    return false;
  }
}
