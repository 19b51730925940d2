import { type WriteStep, write } from '@stak/table';
import { dueShardOf } from './due.ts';
import { lane } from './events-table.ts';

type Of = { connectionId: string; sourceId: string; userId: string };

// Has somebody look after the connection's backlog from then on. Part of the transaction that makes it necessary,
// wherever there is one: a backlog that nobody looks after would wait for ever.
export const armLane = ({ connectionId, sourceId, userId }: Of, dueAt: number): WriteStep =>
  write.update(
    lane,
    { connectionId },
    {
      set: { sourceId, userId, dueIn: dueShardOf(connectionId), dueAt },
      remove: ['emptyAt', 'owner'],
    },
    { upsert: true },
  );
