import { randomUUID } from 'node:crypto';
import { type Attributes, type Capacity, mayLoseAnswers, type TransactWrite } from '../client/client.ts';
import { type PreparedResult, type PreparedWrite, preparedOf } from '../client/prepared.ts';
import { isUnanswered } from '../client/retry.ts';
import { type Session, send, sendPrepared } from '../client/session.ts';
import { asOneWrite, isConditionFailure, storedIn } from './failure.ts';
import type { WriteStep } from './steps.ts';

type WriteOutput = { Attributes?: Attributes; ConsumedCapacity?: Capacity };
type Handling = {
  isOwn(stored: Attributes | undefined): boolean;
  explain(error: unknown): unknown; // returns the error to throw instead
  mayRepeat?: boolean;
};

// The result of a prepared write; or undefined if its wire operation is to be sent, because it is not supported or has
// failed with `failure`.
type Tried = { result?: PreparedResult | undefined; failure?: unknown };

export async function tryPrepared(
  session: Session,
  pattern: string,
  operation: 'put' | 'update' | 'delete',
  write: PreparedWrite | undefined,
  returns: 'old' | 'new' | undefined,
  explain: Handling['explain'],
): Promise<Tried> {
  const prepared = write && preparedOf(session.client, operation);
  if (!prepared) return {};
  const options = { returns, bills: session.ledger !== undefined };
  try {
    const run = () => prepared.writeOne(write, options);
    return { result: await sendPrepared(session, 'write', pattern, write.table, run) };
  } catch (error) {
    if (isConditionFailure(error)) throw explain(error);
    return { failure: error };
  }
}

// An attempt that has failed counts as the first one.
export function failingFirst<Input, Output>(
  failure: unknown,
  operation: (input: Input) => Promise<Output>,
): (input: Input) => Promise<Output> {
  if (failure === undefined) return operation;
  let isFirst = true;
  return input => {
    if (!isFirst) return operation(input);
    isFirst = false;
    return Promise.reject(failure);
  };
}

// Repeated if there was no response. If the repetition is refused because of what the first attempt wrote, the write
// was made.
export async function sendWrite<Input extends object>(
  session: Session,
  pattern: string,
  input: Input,
  operation: (input: Input) => Promise<WriteOutput>,
  { isOwn, explain, mayRepeat = true }: Handling,
): Promise<WriteOutput> {
  let isUncertain = false;
  const attempt = async (given: Input): Promise<WriteOutput> => {
    try {
      return await operation(given);
    } catch (error) {
      isUncertain ||= isUnanswered(error);
      throw error;
    }
  };
  try {
    return await send(session, 'write', pattern, input, attempt, { mayRepeat });
  } catch (error) {
    const isRefused = error instanceof Error && error.name === 'ConditionalCheckFailedException';
    const stored = isRefused ? storedIn(error as object) : undefined;
    if (isUncertain && isRefused && isOwn(stored)) return { Attributes: stored };
    throw explain(error);
  }
}

// With a token, a transaction is made once however often it is sent. A store in this process always responds, so it
// needs no token.
export const tokenFor = ({ client }: Session): string | undefined =>
  mayLoseAnswers(client) ? randomUUID() : undefined;

// An addition must not be made twice, so it is sent as a transaction with a token.
export async function sendAddition(
  session: Session,
  pattern: string,
  built: TransactWrite,
  explain: Handling['explain'],
): Promise<void> {
  const { transactWrite } = session.client;
  const input = { TransactItems: [built], ClientRequestToken: tokenFor(session) };
  try {
    await send(session, 'write', pattern, input, transactWrite, { mayRepeat: true });
  } catch (error) {
    throw explain(asOneWrite(error));
  }
}

export async function sendStep(
  session: Session,
  pattern: string,
  step: WriteStep,
  explain: Handling['explain'],
): Promise<void> {
  const { client } = session;
  const built = step.build(session.clock.now());
  const handling = { isOwn: (stored: Attributes | undefined) => step.isOwn(stored, built), explain };
  if (step.isAddition || 'ConditionCheck' in built) await sendAddition(session, pattern, built, explain);
  else if ('Put' in built) await sendWrite(session, pattern, built.Put, client.put, handling);
  else if ('Update' in built) await sendWrite(session, pattern, built.Update, client.update, handling);
  else await sendWrite(session, pattern, built.Delete, client.delete, handling);
}
