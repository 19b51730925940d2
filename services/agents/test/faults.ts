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
