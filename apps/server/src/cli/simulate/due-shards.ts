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
  measured.map(flow => ({
    ...flow,
    ways: flow.ways.map(({ place, heat }, index) => {
      const keys = spread(heat.keys, dueShards);
      const isLast = index === flow.ways.length - 1;
      return { place, heat: { ...heat, keys, hottest: isLast ? hottestEverywhere(keys) : hottestOf(keys) } };
    }),
  }));

const spread = (keys: readonly KeyHeat[], dueShards: DueShards): KeyHeat[] =>
  keys.map((key): KeyHeat => {
    const by = dueKeys[`${key.where} ${key.key}`];
    if (by === undefined) return key;
    const shards = dueShards[by];
    const times = shards / usualDueShards[by];
    // Writes are spread over the shards. Every shard is read as often as before, however many there are.
    return key.kind === 'write'
      ? { ...key, partitions: shards, shards, hottestUnits: rounded(key.hottestUnits / times) }
      : { ...key, partitions: shards, shards, units: rounded(key.units * times) };
  });
