import type { DynamoClient } from '@stak/table';
import type { StreamSource } from '../src/index.ts';
import type { Fixture } from './stream-fixture.ts';

// A process that is killed at a chosen step. Every call of the source and of the table has two of them: before
// it is made, and after it was made but before its answer arrives. From then on nothing is answered any more.

export type Crashing = Pick<Fixture, 'source' | 'client'> & {
  steps(): number;
  isDead(): boolean;
  kill(): void;
  // The call that it was about to make.
  lastCall(): string;
};

const never = new Promise<never>(() => {});

export function crashing(fixture: Fixture, lifetime = Number.POSITIVE_INFINITY): Crashing {
  let steps = 0;
  let isDead = false;
  let last = '';

  const survive = (call: string): boolean => {
    if (!isDead && steps++ === lifetime) {
      isDead = true;
      last = call;
    }
    return !isDead;
  };

  const wrap = <T extends object>(port: T, unwrapped: readonly string[] = []): T => {
    const wrapped = Object.entries(port).map(([name, method]) => {
      if (unwrapped.includes(name)) return [name, method];
      const call = async (...args: unknown[]) => {
        if (!survive(`before ${name}`)) return never;
        const answer = await (method as (...args: unknown[]) => Promise<unknown>)(...args);
        return survive(`after ${name}`) ? answer : never;
      };
      return [name, call];
    });
    return Object.fromEntries(wrapped) as T;
  };

  return {
    source: wrap<StreamSource>(fixture.source, ['position', 'newest', 'waitForChange']),
    client: wrap<DynamoClient>(fixture.client),
    steps: () => steps,
    isDead: () => isDead,
    kill: () => {
      isDead = true;
    },
    lastCall: () => last,
  };
}
