import type { Clock, Random } from '@stak/kit';
import type { Ledger } from './capacity.ts';
import type { Capacity, DynamoClient } from './client.ts';
import type { Cursors } from './cursor.ts';
import { withRetry } from './retry.ts';

// What every operation works with.
export type Session = {
  readonly client: DynamoClient;
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
  readonly random: Random;
  readonly cursors: Cursors;
  readonly ledger?: Ledger;
};

type Billable = { ReturnConsumedCapacity?: 'INDEXES' | 'TOTAL' | 'NONE' };
type Billed = { ConsumedCapacity?: Capacity | Capacity[] };

// Sends until it is answered or patience runs out, and books what it cost under the access pattern's name.
export async function send<Input extends Billable, Output extends Billed>(
  session: Omit<Session, 'cursors'>,
  kind: 'read' | 'write',
  pattern: string,
  input: Input,
  operation: (input: Input) => Promise<Output>,
  { mayRepeat = kind === 'read' }: { mayRepeat?: boolean } = {},
): Promise<Output> {
  const { ledger } = session;
  if (ledger) input.ReturnConsumedCapacity = 'TOTAL';
  const output = await withRetry(session, () => operation(input), { mayRepeat });
  ledger?.record(kind, pattern, output.ConsumedCapacity);
  return output;
}
