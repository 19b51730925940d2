import { type Attributes, mayLoseAnswers } from '../client/client.ts';
import { prepare, preparedOf } from '../client/prepared.ts';
import { readPrepared, type Session, send, sendPrepared } from '../client/session.ts';
import type { AnyEntity } from '../design/entity.ts';
import { fromStored, hasKindOf, isExpired, keyOf } from '../design/item.ts';
import { itemRefused } from '../errors.ts';
import * as limits from '../limits.ts';
import { explainStep, explainTransaction, isConditionFailure } from './failure.ts';
import { failingFirst, sendStep, tokenFor } from './single-write.ts';
import type { NamedStep, Ref, WriteStep } from './steps.ts';

// Steps by name, so that an error can name the step that failed.
export type Steps = Readonly<Record<string, WriteStep>> | readonly NamedStep[];

/** `mayWait`: nobody waits for these writes, so an embedded store may make them with the next ones. */
export type GroupOptions = { token?: string | undefined; mayWait?: boolean | undefined };

export async function writeTogether(
  session: Session,
  pattern: string,
  steps: Steps,
  { token: given, mayWait = false }: GroupOptions = {},
): Promise<void> {
  const named = (Array.isArray(steps) ? steps : Object.entries(steps)) as [string, WriteStep][];
  if (named.length === 0 || named.length > limits.transactionSteps)
    throw itemRefused(`a transaction has 1 to ${limits.transactionSteps} steps, not ${named.length}`);
  const nowMs = session.clock.now();
  const token = given ?? tokenFor(session);
  const explain = (error: unknown) =>
    explainTransaction(
      named.map(([name, { entity }]) => ({ name, entity })),
      error,
    );
  // A token is remembered by the wire operation only.
  const prepared = token === undefined ? preparedOf(session.client, 'transactWrite') : undefined;
  const writes = prepared && prepare(() => named.map(([, step]) => step.prepare(nowMs)));
  let failure: unknown;
  if (writes)
    try {
      const run = () => prepared.writeTogether(writes, { bills: session.ledger !== undefined, mayWait });
      if (await sendPrepared(session, 'write', pattern, undefined, run)) return;
    } catch (error) {
      if (isConditionFailure(error)) throw explain(error);
      failure = error;
    }
  const input = {
    TransactItems: named.map(([, step]) => step.build(nowMs)),
    ...(token !== undefined && { ClientRequestToken: token }),
  };
  try {
    const transactWrite = failingFirst(failure, session.client.transactWrite);
    await send(session, 'write', pattern, input, transactWrite, { mayRepeat: token !== undefined });
  } catch (error) {
    throw explain(error);
  }
}

// One after another if a transaction costs twice as much; in one transaction if that costs less.
export async function writeInOrder(
  session: Session,
  pattern: string,
  groups: readonly (readonly NamedStep[])[],
  mayWait: boolean,
): Promise<void> {
  if (!mayLoseAnswers(session.client)) return writeTogether(session, pattern, groups.flat(), { mayWait });
  for (const steps of groups) {
    const [name, step] = steps[0] ?? [];
    if (steps.length > 1) await writeTogether(session, pattern, steps);
    else if (name !== undefined && step)
      await sendStep(session, pattern, step, error => explainStep(name, step.entity, error));
  }
}

// Reads all items as of one moment.
export async function readTogether(
  session: Session,
  pattern: string,
  refs: Readonly<Record<string, Ref<AnyEntity>>>,
): Promise<Record<string, Attributes | undefined>> {
  const named = Object.entries(refs);
  const result =
    (await readTogetherPrepared(session, pattern, named)) ?? (await sendGets(session, pattern, named));
  const nowMs = session.clock.now();
  return Object.fromEntries(
    named.map(([name, { entity }], i) => {
      const stored = result[i];
      const isThere = stored && hasKindOf(entity, stored) && !isExpired(entity, stored, nowMs);
      return [name, isThere ? fromStored(entity, stored) : undefined];
    }),
  );
}

type NamedRef = [string, Ref<AnyEntity>];

async function readTogetherPrepared(session: Session, pattern: string, named: readonly NamedRef[]) {
  const prepared = preparedOf(session.client, 'transactGet');
  const gets =
    prepared &&
    prepare(() =>
      named.map(([, { entity, key }]) => ({ table: entity.table.name, key: keyOf(entity, key) })),
    );
  const read = gets && (await readPrepared(session, pattern, undefined, () => prepared.getTogether(gets)));
  return read?.items;
}

async function sendGets(
  session: Session,
  pattern: string,
  named: readonly NamedRef[],
): Promise<(Attributes | undefined)[]> {
  const input = {
    TransactItems: named.map(([, { entity, key }]) => ({
      Get: { TableName: entity.table.name, Key: keyOf(entity, key) },
    })),
  };
  const { Responses = [] } = await send(session, 'read', pattern, input, session.client.transactGet);
  return Responses.map(({ Item }) => Item);
}
