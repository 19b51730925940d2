import { createHash } from 'node:crypto';
import * as limits from './limits.ts';

// Which part of the due index something waits in. The end of an id is random.
export const dueShards = Array.from({ length: limits.dueShards }, (_, i) => `s${i}`);

export const dueShardOf = (id: string): string => dueShards[tailOf(id) % limits.dueShards]!;

// Which partition of its source an event is in: known to whoever knows its id.
export const eventShardOf = (eventId: string): number => tailOf(eventId) % limits.eventShards;

export const eventKey = ({
  sourceId,
  eventId,
  receivedAt,
}: {
  sourceId: string;
  eventId: string;
  receivedAt: number;
}) => ({ sourceId, shard: eventShardOf(eventId), receivedAt, eventId });

const tailOf = (id: string): number => {
  const tail = Number.parseInt(id.slice(-4), 36);
  return Number.isNaN(tail) ? createHash('sha256').update(id).digest().readUInt16BE() : tail;
};
