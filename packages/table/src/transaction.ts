import { type Attributes, mayLoseAnswers } from './client.ts';
import type { AnyEntity } from './entity.ts';
import { itemRefused } from './errors.ts';
import { explainStep, explainTransaction } from './failure.ts';
import { fromStored, hasKindOf, isExpired, keyOf } from './item.ts';
import * as limits from './limits.ts';
import { type Session, send } from './session.ts';
import { sendStep, tokenFor } from './single-write.ts';
import type { NamedStep, Ref, WriteStep } from './steps.ts';

// Steps by name, so that an error can name the step that failed.
export type Steps = Readonly<Record<string, WriteStep>> | readonly NamedStep[];

export async function writeTogether(
  session: Session,
  pattern: string,
  steps: Steps,
  given: string | undefined,
): Promise<void> {
  const named = (Array.isArray(steps) ? steps : Object.entries(steps)) as [string, WriteStep][];
  if (named.length === 0 || named.length > limits.transactionSteps)
    throw itemRefused(`a transaction has 1 to ${limits.transactionSteps} steps, not ${named.length}`);
  const nowMs = session.clock.now();
  const token = given ?? tokenFor(session);
  const input = {
    TransactItems: named.map(([, step]) => step.build(nowMs)),
    ...(token !== undefined && { ClientRequestToken: token }),
  };
  try {
    const { transactWrite } = session.client;
    await send(session, 'write', pattern, input, transactWrite, { mayRepeat: token !== undefined });
  } catch (error) {
    throw explainTransaction(
      named.map(([name, { entity }]) => ({ name, entity })),
      error,
    );
  }
}

// One after another if a transaction costs twice as much; in one transaction if that costs less.
export async function writeInOrder(
  session: Session,
  pattern: string,
  groups: readonly (readonly NamedStep[])[],
): Promise<void> {
  if (!mayLoseAnswers(session.client)) return writeTogether(session, pattern, groups.flat(), undefined);
  for (const steps of groups) {
    const [name, step] = steps[0] ?? [];
    if (steps.length > 1) await writeTogether(session, pattern, steps, undefined);
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
  const input = {
    TransactItems: named.map(([, { entity, key }]) => ({
      Get: { TableName: entity.table.name, Key: keyOf(entity, key) },
    })),
  };
  const { Responses = [] } = await send(session, 'read', pattern, input, session.client.transactGet);
  const nowMs = session.clock.now();
  return Object.fromEntries(
    named.map(([name, { entity }], i) => {
      const stored = Responses[i]?.Item;
      const isThere = stored && hasKindOf(entity, stored) && !isExpired(entity, stored, nowMs);
      return [name, isThere ? fromStored(entity, stored) : undefined];
    }),
  );
}
