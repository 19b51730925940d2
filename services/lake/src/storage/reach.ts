import type { Clock, Logger } from '@stak/kit';
import * as limits from '../limits.ts';
import type { ObjectStore } from './objects.ts';

// Whether this node can store objects. One that reaches the tables but not the bucket would keep its shards and retry
// for ever, while other nodes could capture them.

export type Reach = {
  noteStored(): void;
  noteFailure(): void;
  // False after failures for a while, until an object can be stored again.
  isAble(): boolean;
};

type ReachDeps = { objects: ObjectStore; clock: Clock; log: Logger };

const key = 'reach.json'; // written by each node that tries, and never read

export function createReach({ objects, clock, log }: ReachDeps): Reach {
  let failingSince: number | undefined;
  let attemptedAt = Number.NEGATIVE_INFINITY;
  let isGivenUp = false;

  function noteStored(): void {
    if (isGivenUp) log.info('objects of the lake can be stored again');
    failingSince = undefined;
    isGivenUp = false;
  }

  return {
    noteStored,
    noteFailure() {
      failingSince ??= clock.now();
    },
    isAble() {
      if (failingSince === undefined) return true;
      const nowMs = clock.now();
      if (nowMs - failingSince < limits.unreachableMs) return true;
      if (!isGivenUp)
        log.error(
          'objects of the lake cannot be stored from here: other nodes, if there are any, capture its changes',
        );
      isGivenUp = true;
      if (nowMs - attemptedAt >= limits.reachAgainMs) {
        attemptedAt = nowMs;
        objects
          .put(key, Buffer.from('{}'))
          .then(noteStored, error => log.warn({ err: error }, 'the store of the lake is still out of reach'));
      }
      return false;
    },
  };
}
