import type { DueShards } from '../../config/config.ts';

// Keys whose partitions are shards: a hash or a random number chooses one of them for each write. A sample of some
// operations hits them unevenly, and may miss some; many operations are spread evenly over all of them.
type ShardedKey = {
  where: string; // the table or index
  partition: RegExp; // a shard; the group is what all shards of one key have in common
  shards: number | keyof DueShards | 'used';
};

const shardedKeys: readonly ShardedKey[] = [
  { where: 'ferryhook-events', partition: /^(SRC#[^#]+)#\d+$/, shards: 4 },
  // Chosen by the source or connection that is counted: an account with one source uses two of them.
  { where: 'ferryhook-events', partition: /^(COUNTS#[^#]+)#\d+$/, shards: 'used' },
  { where: 'ferryhook-events/GSI2', partition: /^(DUE)#s\d+$/, shards: 'webhooks' },
  { where: 'ferryhook-main', partition: /^(USAGE#[^#]+)#\d+$/, shards: 8 },
  { where: 'stak-inbox', partition: /^(t#.+S#.+)~\d+$/, shards: 16 },
  { where: 'stak-inbox/due', partition: /^(DUE)#\d+$/, shards: 4 },
  { where: 'conversations/due', partition: /^(DUE|DUEMEMORY)#\d+$/, shards: 'agents' },
  { where: 'todo-app-data/GSI6', partition: /^(REMIND)#\d+$/, shards: 4 },
];

type Shards = { name: string; shards: number | 'used' };

// The shards that a partition is one of. Another partition is the only one of its key.
export function shardsOf(where: string, partition: string, dueShards: DueShards): Shards {
  for (const sharded of shardedKeys) {
    const name = sharded.where === where ? sharded.partition.exec(partition)?.[1] : undefined;
    if (name === undefined) continue;
    const { shards } = sharded;
    return { name, shards: shards === 'webhooks' || shards === 'agents' ? dueShards[shards] : shards };
  }
  return { name: partition, shards: 1 };
}
