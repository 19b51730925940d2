import type { Random } from '@stak/kit';
import type { DynamoClient, RemoteClient } from '../src/index.ts';

export type Faults = {
  lostAnswers?: number; // the operation is made, and nobody hears of it
  lostRequests?: number; // it is not made, and looks the same from here
  throttled?: number;
};

const reads = new Set(['get', 'query', 'scan', 'batchGet', 'transactGet']);

const lost = () => Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
const throttle = () =>
  Object.assign(new Error('Rate of requests exceeds the allowed throughput.'), {
    name: 'ThrottlingException',
  });

// A client that fails as a remote store may, as often as it is told to, in an order that follows from the random
// numbers it is given.
export function createAdversary(
  client: DynamoClient,
  { random, lostAnswers = 0, lostRequests = 0, throttled = 0 }: Faults & { random: Random },
) {
  const counts = { lostAnswers: 0, lostRequests: 0, throttled: 0 };
  const wrap = (name: string, operation: (input: never) => Promise<unknown>) => async (input: never) => {
    const [first, second, third] = [random(), random(), random()];
    if (first < throttled) {
      counts.throttled += 1;
      throw throttle();
    }
    if (second < lostRequests) {
      counts.lostRequests += 1;
      throw lost();
    }
    const output = await operation(input);
    if (third < lostAnswers && !reads.has(name)) {
      counts.lostAnswers += 1;
      throw lost();
    }
    return output;
  };
  const wrapped = Object.fromEntries(
    Object.entries(client)
      .filter(([, operation]) => typeof operation === 'function')
      .map(([name, operation]) => [name, wrap(name, operation as never)]),
  );
  return { ...wrapped, mayLoseAnswers: true, counts } as unknown as RemoteClient & { counts: typeof counts };
}
