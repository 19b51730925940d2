import type { DynamoClient } from '@stak/table';

export class CrashError extends Error {}

const writes = ['put', 'update', 'delete', 'batchWrite', 'transactWrite'] as const;
export type Input = Record<string, unknown>;

export type Faults = {
  client: DynamoClient;
  // The process dies at the given write from now on: before it, or after it but before it hears of it.
  arm(write: number, after: boolean): void;
  disarm(): void;
  writes(): number;
};

// A client that fails when told to, and that may be sabotaged: what it is asked to write is changed on the way.
export function withFaults(inner: DynamoClient, sabotage: (input: Input) => Input = input => input): Faults {
  let left: number | undefined;
  let isAfter = false;
  let count = 0;
  const client = { ...inner };
  for (const name of writes) {
    const original = inner[name] as (input: Input) => Promise<object>;
    (client as Record<string, unknown>)[name] = async (input: Input) => {
      count += 1;
      const isFatal = left !== undefined && left-- === 0;
      if (isFatal && !isAfter) throw new CrashError('before a write');
      const answer = await original(sabotage(input));
      if (isFatal) throw new CrashError('after a write');
      return answer;
    };
  }
  return {
    client,
    arm(write, after) {
      left = write;
      isAfter = after;
    },
    disarm() {
      left = undefined;
    },
    writes: () => count,
  };
}
