import { createHash } from 'node:crypto';
import type { Shard, Stream } from '../storage/table.ts';

// External forms of numbers in the change log: sequence numbers have at least 21 digits and also sort as text; shard
// ids look like AWS's.

const sequenceDigits = 20;

export const sequenceText = (sequence: number): string =>
  `1${String(sequence).padStart(sequenceDigits, '0')}`;

export function parseSequence(text: string): number | undefined {
  const sequence = /^1\d{20}$/.test(text) ? Number(text.slice(1)) : Number.NaN;
  return sequence < 2 ** 48 ? sequence : undefined;
}

export function shardName(stream: Stream, shardId: number): string {
  const digest = createHash('sha256').update(`${stream.id}/${shardId}`).digest('hex');
  return `shardId-${String(shardId).padStart(20, '0')}-${digest.slice(0, 8)}`;
}

export function findShard(stream: Stream, name: string): Shard | undefined {
  const id = Number(/^shardId-(\d{20})-/.exec(name)?.[1]);
  const shard = stream.shards.find(candidate => candidate.id === id);
  return shard && shardName(stream, id) === name ? shard : undefined;
}

// The moment the stream was enabled, to the millisecond.
export const streamLabel = (createdAt: number): string => new Date(createdAt).toISOString().slice(0, -1);
