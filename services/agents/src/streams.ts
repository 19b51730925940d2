import { type Subscription, subscribe } from '@stak/streams';
import { adopt } from './adoption.ts';
import type { Service } from './deps.ts';
import { isForeign } from './reading.ts';
import { conversation, conversations } from './table.ts';

// What a program that knows only the document did: its messages go into the log, and what it deleted, or what has
// expired, is removed from there. Seeing a change twice finds nothing left to do.
export const createSubscriptions = (service: Service): Subscription[] => [
  subscribe({
    name: 'agents-documented-item',
    table: conversations,
    entities: [conversation],
    async handle(change) {
      const { old, new: item } = change;
      if (item ? isForeign(item) : old !== undefined) await adopt(service, item ?? old!);
    },
  }) as unknown as Subscription,
];
