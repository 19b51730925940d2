import { type DueShards, usualDueShards } from '../config.ts';
import { type Heat, type Hottest, type KeyHeat, perPartition } from './heat.ts';
import type { Simulated } from './simulate.ts';

// Converts measurements with the usual number of shards for due items to another number.

const dueKeys: Readonly<Record<string, keyof DueShards>> = {
  'ferryhook-events/GSI2 DUE#{dueIn}': 'webhooks',
  'conversations/due DUE#{due_lane}': 'agents',
  'conversations/due DUEMEMORY#{due_lane}': 'agents',
};

type Key = Pick<KeyHeat, 'where' | 'key'>;

const shardedBy = ({ where, key }: Key): keyof DueShards | undefined => dueKeys[`${where} ${key}`];

export const withDueShards = (measured: readonly Simulated[], shards: DueShards): Simulated[] =>
  measured.map(one => ({
    ...one,
    ways: one.ways.map(({ place, heat }) => ({ place, heat: spread(heat, shards) })),
  }));

function spread(heat: Heat, shards: DueShards): Heat {
  const keys = heat.keys.map(key => {
    const by = shardedBy(key);
    if (by === undefined) return key;
    // Writes are spread over the shards. Every shard is read as often as before, however many there are.
    const units = key.kind === 'write' ? key.units : (key.units * shards[by]) / usualDueShards[by];
    return { ...key, units, partitions: shards[by] };
  });
  const by = shardedBy(heat.hottest);
  if (by === undefined || heat.hottest.kind === 'read' || shards[by] === usualDueShards[by])
    return { ...heat, keys };
  const units = (heat.hottest.units * usualDueShards[by]) / shards[by];
  const due: Hottest = { ...heat.hottest, units, most: perPartition.write / units };
  const hottest = keys
    .filter(key => key.kind === 'read' || shardedBy(key) === undefined)
    .map(evenly)
    .reduce((most, one) => (one.most < most.most ? one : most), due);
  return { ...heat, keys, hottest };
}

// For others, only the sum over their partitions was stored.
function evenly({ where, key, kind, units, partitions }: KeyHeat): Hottest {
  const each = units / partitions;
  return { where, partition: key, key, kind, units: each, most: perPartition[kind] / each };
}
