import type { Context } from '../context.ts';
import { DynamoError, validationError } from '../errors.ts';
import { streamIteratorMs } from '../limits.ts';

// A shard iterator contains its whole state: stream and shard, the next sequence to read, and when it was created. So
// iterators survive a restart and work in every process.
export type ShardIterator = { streamArn: string; shardId: number; position: number; createdAt: number };

export function formatIterator({ streamArn, shardId, position, createdAt }: ShardIterator): string {
  const encoded = Buffer.from(JSON.stringify([shardId, position, createdAt])).toString('base64');
  return `${streamArn}|1|${encoded}`;
}

export function parseIterator(context: Context, text: string): ShardIterator {
  const match = /^([^|]+)\|1\|([A-Za-z0-9+/=]+)$/.exec(text);
  const encoded = match && parsePosition(match[2]!);
  if (!encoded) throw validationError('Invalid ShardIterator.');
  const [shardId, position, createdAt] = encoded;
  if (context.now() - createdAt > streamIteratorMs) {
    throw new DynamoError(
      'ExpiredIteratorException',
      `Iterator expired: The iterator was created at ${new Date(createdAt).toISOString()}, ` +
        `more than ${streamIteratorMs} milliseconds ago.`,
    );
  }
  return { streamArn: match[1]!, shardId, position, createdAt };
}

function parsePosition(base64: string): [number, number, number] | undefined {
  try {
    const encoded: unknown = JSON.parse(Buffer.from(base64, 'base64').toString());
    if (!Array.isArray(encoded) || encoded.length !== 3) return undefined;
    const inRange = (encoded as unknown[]).every(
      part => Number.isSafeInteger(part) && (part as number) >= 0 && (part as number) < 2 ** 48,
    );
    return inRange ? (encoded as [number, number, number]) : undefined;
  } catch {
    return undefined;
  }
}
