import { type DueShards, usualDueShards } from '../../config/config.ts';
import { hottestEverywhere, hottestOf, type KeyHeat, rounded } from './heat.ts';
import type { Simulated } from './simulate.ts';

// Converts measurements with the usual number of shards for due items to another number.

const dueKeys: Readonly<Record<string, keyof DueShards>> = {
  'ferryhook-events/GSI2 DUE#{dueIn}': 'webhooks',
  'conversations/due DUE#{due_lane}': 'agents',
  'conversations/due DUEMEMORY#{due_lane}': 'agents',
};

export const withDueShards = (measured: readonly Simulated[], dueShards: DueShards): Simulated[] =>
  measured.map(one => ({
    ...one,
    ways: one.ways.map(({ place, heat }, index) => {
      const keys = spread(heat.keys, dueShards);
      const isLast = index === one.ways.length - 1;
      return { place, heat: { ...heat, keys, hottest: isLast ? hottestEverywhere(keys) : hottestOf(keys) } };
    }),
  }));

const spread = (keys: readonly KeyHeat[], dueShards: DueShards): KeyHeat[] =>
  keys.map((one): KeyHeat => {
    const by = dueKeys[`${one.where} ${one.key}`];
    if (by === undefined) return one;
    const shards = dueShards[by];
    const times = shards / usualDueShards[by];
    // Writes are spread over the shards. Every shard is read as often as before, however many there are.
    return one.kind === 'write'
      ? { ...one, partitions: shards, shards, hottestUnits: rounded(one.hottestUnits / times) }
      : { ...one, partitions: shards, shards, units: rounded(one.units * times) };
  });
