import type { DynamoClient } from '@stak/table';

// A client whose next operation but some fails: before it is made, or after, when nobody hears of it.
export function createFaults(client: DynamoClient) {
  let planned: { left: number; when: 'before' | 'after' } | undefined;
  let running = 0;
  const wrapped = Object.fromEntries(
    Object.entries(client).map(([name, operation]) => [
      name,
      async (input: never) => {
        const fault = planned && planned.left-- === 0 ? planned : undefined;
        if (fault) planned = undefined;
        if (fault?.when === 'before') throw new Error('the network is gone');
        running += 1;
        const output = await (operation as (input: never) => Promise<unknown>)(input).finally(() => {
          running -= 1;
        });
        if (fault) throw new Error('the network is gone, after all');
        return output;
      },
    ]),
  ) as unknown as DynamoClient;
  return {
    client: wrapped,
    running: () => running,
    failNext(after: number, when: 'before' | 'after') {
      planned = { left: after, when };
    },
    reset() {
      planned = undefined;
    },
  };
}

// A client of a store that is too busy for some operations. It fails as a store does that has moved away, which is not
// retried: no test has to advance the clock.
export function busyWhen(
  client: DynamoClient,
  isBusy: (operation: string, input: unknown) => boolean,
): DynamoClient {
  const refuse = () => Object.assign(new Error('busy'), { name: 'StoreMovedException' });
  const entries = Object.entries(client).map(([name, operation]) => [
    name,
    async (input: never) => {
      if (isBusy(name, input)) throw refuse();
      return (operation as (input: never) => Promise<unknown>)(input);
    },
  ]);
  return Object.fromEntries(entries) as DynamoClient;
}

// A client that makes one of the next transactions, the first one or a later one, and loses its answer.
export function loseAnswer(client: DynamoClient, after = 0): DynamoClient {
  let left = after;
  return {
    ...client,
    async transactWrite(input) {
      const output = await client.transactWrite(input);
      if (left-- === 0) throw new Error('the connection broke');
      return output;
    },
  };
}

// A client of a process that can be suspended before a call: this one and all that follow wait until it continues.
export function suspendable(client: DynamoClient) {
  let isMeant: ((name: string, input: unknown) => boolean) | undefined;
  let waiting: (() => void)[] | undefined; // while it is suspended
  const wrapped = Object.fromEntries(
    Object.entries(client).map(([name, operation]) => [
      name,
      async (input: never) => {
        if (!waiting && isMeant?.(name, input)) {
          waiting = [];
          isMeant = undefined;
        }
        if (waiting) await new Promise<void>(resolve => void waiting!.push(resolve));
        return (operation as (input: never) => Promise<unknown>)(input);
      },
    ]),
  ) as unknown as DynamoClient;
  return {
    client: wrapped,
    suspendBefore(call: (name: string, input: unknown) => boolean) {
      isMeant = call;
    },
    isSuspended: () => waiting !== undefined,
    resume() {
      const calls = waiting ?? [];
      waiting = undefined;
      for (const go of calls) go();
    },
  };
}
