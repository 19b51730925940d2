import type { Clock, Random } from '@stak/kit';
import { onTestFailed } from 'vitest';
import { type Attributes, type DynamoClient, isUnavailable, type RemoteClient } from '../src/index.ts';

/** How often something goes wrong, from 0 to 1, for each operation that it can happen to. */
export type Faults = {
  lostAnswers?: number; // the operation is made, and nobody hears of it
  lostRequests?: number; // it is not made, and looks the same from here
  failed?: number; // DynamoDB's own 500: made or not, in turn
  throttled?: number;
  conflicts?: number; // with another transaction, or with the same one that is still under way
  unprocessed?: number; // a part of a batch comes back
  // A query of an index answers as it did a while ago. Needs a clock.
  staleIndexes?: number;
  staleMs?: number;
  clock?: Pick<Clock, 'now'>;
};

/** Every fault that passes: nothing that a caller could not wait out. */
export const passingFaults = {
  lostAnswers: 0.03,
  lostRequests: 0.02,
  failed: 0.02,
  throttled: 0.03,
  conflicts: 0.03,
  unprocessed: 0.1,
} as const satisfies Faults;

// Faults of one call, which repeats more often than this: what fails now and then, and not always, passes.
const mostInARow = 5;

const reads = new Set(['get', 'query', 'scan', 'batchGet', 'transactGet']);

const named = (name: string, message: string, more: object = {}) =>
  Object.assign(new Error(message), { name, ...more });
const lost = () => Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
const throttle = () => named('ThrottlingException', 'Rate of requests exceeds the allowed throughput.');
const failure = () =>
  named('InternalServerError', 'Internal server error', { $metadata: { httpStatusCode: 500 } });

type Input = {
  IndexName?: string;
  TransactItems?: readonly object[];
  ClientRequestToken?: string;
  RequestItems?: Record<string, unknown>;
};

function conflict(name: string, { TransactItems = [], ClientRequestToken }: Input, random: Random): Error {
  if (!name.startsWith('transact'))
    return named('TransactionConflictException', 'Transaction is ongoing for the item');
  if (ClientRequestToken !== undefined && random() < 0.3)
    return named(
      'TransactionInProgressException',
      'The transaction with the given request token is in progress',
    );
  const at = Math.floor(random() * TransactItems.length);
  const CancellationReasons = TransactItems.map((_, i) => ({
    Code: i === at ? 'TransactionConflict' : 'None',
  }));
  return named('TransactionCanceledException', 'Transaction cancelled', { CancellationReasons });
}

type Settings = Faults & {
  random: Random;
  note?(fault: string): void; // keeps what went wrong, instead of printing it if the test fails
};

/**
 * A client that fails as a remote store may, as often as it is told to, in an order that follows from the random
 * numbers it is given.
 */
export function createAdversary(client: DynamoClient, settings: Settings) {
  const { random, staleMs = 2_000, clock } = settings;
  const counts = {
    lostAnswers: 0,
    lostRequests: 0,
    failed: 0,
    throttled: 0,
    conflicts: 0,
    unprocessed: 0,
    staleIndexes: 0,
  };
  const history = createHistory(settings.note);
  const happens = (fault: keyof typeof counts, call: Call): boolean => {
    const share = settings[fault] ?? 0;
    if (share === 0 || random() >= share) return false;
    counts[fault] += 1;
    history.note(fault, call);
    return true;
  };
  const isPassing = (Object.keys(counts) as (keyof typeof counts)[]).every(fault => settings[fault] !== 1);
  const inARow = new Map<string, number>();
  const earlier = new Map<string, { atMs: number; output: unknown }>();

  // What the same query answered before, if that is not too long ago.
  const staleAnswer = (name: string, input: Input, call: Call): { output: unknown } | undefined => {
    if (name !== 'query' || input.IndexName === undefined || !clock) return undefined;
    const known = earlier.get(JSON.stringify(input));
    if (!known || clock.now() - known.atMs > staleMs || !happens('staleIndexes', call)) return undefined;
    return { output: structuredClone(known.output) };
  };

  const attempt = async (name: string, operation: (input: never) => Promise<unknown>, input: never) => {
    const isRead = reads.has(name);
    const call = history.begin(name, input);
    if (happens('throttled', call)) throw throttle();
    if (happens('lostRequests', call)) throw lost();
    if ((!isRead || name === 'transactGet') && name !== 'batchWrite' && happens('conflicts', call))
      throw conflict(name, input, random);
    const isFailed = happens('failed', call);
    if (isFailed && (isRead || random() < 0.5)) throw failure();
    if ((name === 'batchWrite' || name === 'batchGet') && happens('unprocessed', call))
      return partly(name, input, operation as never, random);
    const stale = staleAnswer(name, input, call);
    if (stale) return stale.output;
    const output = await operation(input);
    if (isFailed) throw failure();
    if (!isRead && happens('lostAnswers', call)) throw lost();
    if (name === 'query' && clock && (input as Input).IndexName !== undefined)
      earlier.set(JSON.stringify(input), { atMs: clock.now(), output: structuredClone(output) });
    return output;
  };

  const wrap = (name: string, operation: (input: never) => Promise<unknown>) => async (input: never) => {
    const describeCall = () => JSON.stringify([name, input]);
    let failures = 0;
    if (inARow.size > 0) {
      const call = describeCall();
      failures = inARow.get(call) ?? 0;
      inARow.delete(call);
    }
    if (isPassing && failures >= mostInARow) return operation(input);
    try {
      return await attempt(name, operation, input);
    } catch (error) {
      if (isUnavailable(error)) inARow.set(describeCall(), failures + 1);
      throw error;
    }
  };
  const wrapped = Object.fromEntries(
    Object.entries(client)
      .filter(([, operation]) => typeof operation === 'function')
      .map(([name, operation]) => [name, wrap(name, operation as never)]),
  );
  return { ...wrapped, mayLoseAnswers: true, counts } as unknown as RemoteClient & { counts: typeof counts };
}

const linesKept = 40;
let latest: readonly string[] | undefined; // of the tests that make hundreds, the last one has failed

type Call = { number: number; name: string; input: Described };

// What went wrong last, and in which call: printed if the test fails. Where the order of calls follows from the seed, the
// same lines come again.
function createHistory(note: Settings['note']) {
  const lines: string[] = [];
  let calls = 0;
  if (!note) printIfFailed(lines);
  return {
    begin: (name: string, input: Described): Call => ({ number: ++calls, name, input }),
    note(fault: string, { number, name, input }: Call): void {
      const what = `${name} ${describe(input)}: ${fault}`;
      note?.(what);
      lines.push(`call ${number}, ${what}`);
      if (lines.length > linesKept) lines.shift();
    },
  };
}

function printIfFailed(lines: readonly string[]): void {
  latest = lines;
  try {
    onTestFailed(() => {
      if (latest === lines) console.error(`The last failures of the store:\n${lines.join('\n')}`);
    });
  } catch {
    // It was made outside of a test.
  }
}

type Described = {
  TableName?: string;
  Key?: object;
  Item?: Record<string, unknown>;
  TransactItems?: readonly object[];
};

// Tables and keys are enough to find the call in the code.
function describe({ TableName, Key, Item, TransactItems }: Described): string {
  if (TransactItems)
    return TransactItems.map(step =>
      Object.entries(step).map(([kind, of]) => `${kind} ${describe(of)}`),
    ).join(', ');
  const { pk, sk, PK, SK } = Item ?? {};
  const key = Key ?? (Item && { pk: pk ?? PK, sk: sk ?? SK });
  return [TableName, key && JSON.stringify(key)].filter(Boolean).join(' ');
}

type Batch = Record<string, { Keys?: Attributes[] } & Attributes[]>;

// Some of a batch is done, the rest comes back.
async function partly(
  name: 'batchWrite' | 'batchGet',
  input: { RequestItems: Batch },
  operation: (input: unknown) => Promise<object>,
  random: Random,
): Promise<object> {
  const [now, later]: [Record<string, unknown>, Record<string, unknown>] = [{}, {}];
  for (const [table, requests] of Object.entries(input.RequestItems)) {
    const list = (requests.Keys ?? requests) as Attributes[];
    const parts = [list.filter(() => random() < 0.5), [] as Attributes[]] as const;
    parts[1].push(...list.filter(one => !parts[0].includes(one)));
    const shaped = (some: Attributes[]) => (requests.Keys ? { ...requests, Keys: some } : some);
    if (parts[0].length > 0) now[table] = shaped(parts[0]);
    if (parts[1].length > 0) later[table] = shaped(parts[1]);
  }
  const done =
    Object.keys(now).length > 0 ? await operation({ ...input, RequestItems: now }) : { Responses: {} };
  return { ...done, [name === 'batchGet' ? 'UnprocessedKeys' : 'UnprocessedItems']: later };
}
