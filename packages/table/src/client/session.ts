import { type Clock, inSpan, isTraced, type Random } from '@stak/kit';
import type { Ledger } from './capacity.ts';
import type { Capacity, DynamoClient } from './client.ts';
import type { Cursors } from './cursor.ts';
import type { Attempted } from './prepared.ts';
import { withRetry } from './retry.ts';

// Shared by all operations.
export type Session = {
  readonly client: DynamoClient;
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
  readonly random: Random;
  readonly cursors: Cursors;
  readonly ledger?: Ledger;
};

type Billable = { ReturnConsumedCapacity?: 'INDEXES' | 'TOTAL' | 'NONE' };
type BilledOutput = { ConsumedCapacity?: Capacity | Capacity[] };

// Sends until it succeeds or time runs out, and counts its cost under the access pattern's name.
export async function send<Input extends Billable, Output extends BilledOutput>(
  session: Omit<Session, 'cursors'>,
  kind: 'read' | 'write',
  pattern: string,
  input: Input,
  operation: (input: Input) => Promise<Output>,
  { mayRepeat = kind === 'read' }: { mayRepeat?: boolean } = {},
): Promise<Output> {
  const { ledger } = session;
  if (ledger) input.ReturnConsumedCapacity = 'TOTAL';
  const run = () => withRetry(session, () => operation(input), { mayRepeat });
  const output = isTraced() ? await runTraced(kind, pattern, input, run) : await run();
  ledger?.record(kind, pattern, output.ConsumedCapacity);
  return output;
}

type BilledAttempt = { ConsumedCapacity?: Capacity | Capacity[] | undefined };

// The result of a prepared operation. Undefined if it is not supported: the wire operation is then sent.
export function sendPrepared<Output extends BilledAttempt>(
  { ledger }: Omit<Session, 'cursors'>,
  kind: 'read' | 'write',
  pattern: string,
  table: string | undefined,
  run: () => Attempted<Output>,
): Attempted<Output> {
  const record = (output: Output | undefined): Output | undefined => {
    if (ledger && output) ledger.record(kind, pattern, output.ConsumedCapacity);
    return output;
  };
  if (isTraced()) return runTraced(kind, pattern, { TableName: table }, async () => run()).then(record);
  const output = run();
  return output instanceof Promise ? output.then(record) : record(output);
}

// A read that fails is sent as a wire operation, which is retried.
export function readPrepared<Output extends BilledAttempt>(
  session: Omit<Session, 'cursors'>,
  pattern: string,
  table: string | undefined,
  run: () => Attempted<Output>,
): Attempted<Output> {
  try {
    const output = sendPrepared(session, 'read', pattern, table, run);
    return output instanceof Promise ? output.catch(() => undefined) : output;
  } catch {
    return undefined;
  }
}

const runTraced = <Output extends BilledAttempt | undefined>(
  kind: string,
  pattern: string,
  input: object,
  run: () => Promise<Output>,
): Promise<Output> => {
  const { TableName } = input as { TableName?: string };
  const attributes = {
    'db.system.name': 'aws.dynamodb',
    'db.operation.name': pattern,
    'stak.store.kind': kind,
    ...(TableName !== undefined && { 'db.collection.name': TableName }),
  };
  return inSpan(`store ${pattern}`, { kind: 'client', attributes }, async span => {
    const output = await run();
    const units = [output?.ConsumedCapacity ?? []]
      .flat()
      .reduce((sum, usage) => sum + (usage.CapacityUnits ?? 0), 0);
    span.setAttribute('stak.store.units', units);
    return output;
  });
};
