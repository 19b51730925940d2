import { readImage } from '../item-writer.ts';
import { decodeChange } from '../storage/change-log.ts';
import { decodeItem } from '../storage/codec.ts';
import { itemKey, logSequence, logShard } from '../storage/keys.ts';
import { copyBytes } from '../storage/store.ts';
import type { Stream } from '../storage/table.ts';
import type { StreamEntry } from '../streams/dropped-streams.ts';
import { equalItems } from '../values/compare.ts';
import { attempt, type Check } from './findings.ts';
import { isKeyOf } from './items.ts';

export function checkLogRecord(check: Check, entry: StreamEntry, key: Buffer, bytes: Buffer): void {
  const problem = locateProblem(check, entry.stream, key) ?? contentProblem(entry, bytes);
  if (problem) check.add('log', key, problem, entry.tableName);
  else if (entry.stream.enabled) rememberNewest(check, entry, key, bytes);
}

function locateProblem(check: Check, stream: Stream, key: Buffer): string | undefined {
  const shard = stream.shards.find(({ id }) => id === logShard(key));
  const sequence = logSequence(key);
  if (!shard) return 'a change record is in a shard that does not exist';
  if (sequence > check.newestSequence) return `a change record has a sequence never given out: ${sequence}`;
  if (sequence < shard.start || (shard.end !== undefined && sequence > shard.end)) {
    return `a change record has a sequence outside its shard: ${sequence}`;
  }
  return undefined;
}

function contentProblem({ keys }: StreamEntry, bytes: Buffer): string | undefined {
  const record = attempt(() => decodeChange(bytes));
  const images = attempt(() =>
    [record?.keys, record?.old, record?.new].map(image => image && decodeItem(image)),
  );
  const key = images?.[0];
  if (!record?.event || !images || !key) return 'a change record cannot be read';
  // Only the key schema matters here; any id will do.
  const table = { id: 0, keys };
  const itemAt = attempt(() => itemKey(table, key));
  if (!itemAt || images.some(image => image && !isKeyOf(table, image, itemAt))) {
    return 'the keys of a change record disagree with its images';
  }
  return undefined;
}

function rememberNewest(check: Check, entry: StreamEntry, key: Buffer, bytes: Buffer): void {
  const table = check.context.catalog.get(entry.tableName);
  const item = itemKey(table, decodeItem(decodeChange(bytes).keys)).toString('latin1');
  const newest = check.newest.get(item);
  if (!newest || logSequence(newest) < logSequence(key)) check.newest.set(item, key);
}

// The last record of an item in an enabled stream must match the stored item.
export function checkNewestRecords({ newest, store, known, add }: Check): void {
  for (const [item, logKey] of newest) {
    const record = decodeChange(store.get(logKey, copyBytes)!);
    const image = attempt(() => readImage(store, Buffer.from(item, 'latin1')));
    const agrees =
      record.event === 'REMOVE'
        ? !image
        : image && (!record.new || equalItems(decodeItem(record.new), image.item));
    if (agrees) continue;
    const tableName = known.streams.get(logKey.readUInt32BE(1))?.tableName;
    add('log', logKey, 'the newest change record of an item disagrees with it', tableName);
  }
}
