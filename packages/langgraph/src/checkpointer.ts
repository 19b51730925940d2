import { createHash } from 'node:crypto';
import type { RunnableConfig } from '@langchain/core/runnables';
import {
  BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointPendingWrite,
  type CheckpointTuple,
  copyCheckpoint,
  getCheckpointId,
  maxChannelVersion,
  type PendingWrite,
  type SerializerProtocol,
  TASKS,
  WRITES_IDX_MAP,
} from '@langchain/langgraph-checkpoint';
import { type ItemOf, isRefused, type Store, write } from '@stak/table';
import * as limits from './limits.ts';
import {
  allOfThread,
  checkpoint,
  checkpointsOfThread,
  chunk,
  pendingWrite,
  type StoredValue,
  thread,
  threadsOfShard,
  writesOfCheckpoint,
} from './table.ts';
import { encodeValue, hashesOf, readValues, writeChunks } from './values.ts';

type Item = ItemOf<typeof checkpoint>;
type Address = { thread_id: string; ns: string };

const specialChannels = 100; // positions below are for errors, interrupts and the like

/**
 * A checkpointer for LangGraph.js on the table `langgraph`. A step writes only what it changed: the history of a thread
 * can grow without limit, and a step costs the same after ten steps and after ten thousand.
 *
 *     const graph = builder.compile({ checkpointer: createCheckpointer(store) });
 *     await graph.invoke(input, { configurable: { thread_id: 'thread-1' } });
 */
export function createCheckpointer(store: Store, serde?: SerializerProtocol): BaseCheckpointSaver {
  return new TableCheckpointer(store, serde);
}

class TableCheckpointer extends BaseCheckpointSaver {
  readonly #store: Store;

  constructor(store: Store, serde?: SerializerProtocol) {
    super(serde);
    this.#store = store;
  }

  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    if (config.configurable?.thread_id === undefined) return undefined;
    const address = addressOf(config);
    const checkpoint_id = getCheckpointId(config);
    if (checkpoint_id) {
      const stored = await this.#read({ ...address, checkpoint_id });
      return stored && this.#tuple(stored);
    }
    const page = { newestFirst: true, limit: 1 };
    const { items } = await this.#store.query(checkpointsOfThread, address, page);
    return items[0] && this.#tuple(items[0]);
  }

  override async *list(
    config: RunnableConfig,
    { limit = Infinity, before, filter }: CheckpointListOptions = {},
  ): AsyncGenerator<CheckpointTuple> {
    const { thread_id, checkpoint_ns, checkpoint_id } = config.configurable ?? {};
    const beforeId = before?.configurable?.checkpoint_id as string | undefined;
    const ns = checkpoint_ns === undefined ? {} : { ns: nsOf(checkpoint_ns) };
    let left = limit;
    for await (const thread of thread_id === undefined ? this.#threads() : [thread_id as string])
      for await (const checkpoint of this.#store.all(
        checkpointsOfThread,
        { thread_id: thread, ...ns },
        { newestFirst: true },
      )) {
        if (left <= 0) return;
        if (checkpoint_id && checkpoint.checkpoint_id !== checkpoint_id) continue;
        if (beforeId !== undefined && checkpoint.checkpoint_id >= beforeId) continue;
        const tuple = await this.#tuple(checkpoint);
        const metadata = tuple.metadata as Record<string, unknown>;
        if (filter && !Object.entries(filter).every(([name, value]) => metadata[name] === value)) continue;
        left -= 1;
        yield tuple;
      }
  }

  override async put(
    config: RunnableConfig,
    saved: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const { thread_id, ns } = addressOf(config);
    const parent_id = getCheckpointId(config) || undefined;
    const { channel_values, ...body } = copyCheckpoint(saved);
    const encode = async (value: unknown) => encodeValue(await this.serde.dumpsTyped(value));
    // A channel without a new version is the same as in the parent.
    const names = Object.keys(channel_values).filter(name => Object.hasOwn(newVersions, name));
    const unchanged = Object.keys(channel_values).filter(name => !Object.hasOwn(newVersions, name));
    const [encodedBody, encodedMetadata, ...encoded] = await Promise.all([
      encode({ ...body, channel_values: {} }),
      encode(metadata),
      ...names.map(name => encode(channel_values[name])),
    ]);
    // Values of the parent are in the table already.
    const parent = parent_id && (await this.#read({ thread_id, ns, checkpoint_id: parent_id }));
    if (!parent) await this.#store.put(thread, { shard: shardOf(thread_id), thread_id });
    const inherited: Item['channels'] = parent ? parent.channels : {};
    const hashes = new Set(parent ? valuesOf(parent).flatMap(hashesOf) : []);
    await writeChunks(this.#store, thread_id, [encodedBody, encodedMetadata, ...encoded], hashes);
    await this.#store.put(checkpoint, {
      thread_id,
      ns,
      checkpoint_id: saved.id,
      ...(parent_id !== undefined && { parent_id }),
      body: encodedBody.stored,
      metadata: encodedMetadata.stored,
      channels: Object.fromEntries([
        ...unchanged.flatMap(name => (inherited[name] ? [[name, inherited[name]] as const] : [])),
        ...names.map((name, i) => [name, encoded[i]!.stored] as const),
      ]),
    });
    return configOf({ thread_id, ns, checkpoint_id: saved.id });
  }

  // A repeated task finds its writes and changes nothing; errors and interrupts replace earlier ones.
  override async putWrites(config: RunnableConfig, writes: PendingWrite[], task_id: string): Promise<void> {
    const { thread_id, ns } = addressOf(config);
    const checkpoint_id = getCheckpointId(config);
    if (!checkpoint_id) throw new Error('Writes need the checkpoint_id of their config');
    const encoded = await Promise.all(
      writes.map(async ([, value]) => encodeValue(await this.serde.dumpsTyped(value))),
    );
    await writeChunks(this.#store, thread_id, encoded, new Set());
    await Promise.all(
      writes.map(async ([channel], i) => {
        const index = WRITES_IDX_MAP[channel] ?? i;
        const position = specialChannels + index;
        const item = { thread_id, ns, checkpoint_id, task_id, position, channel, value: encoded[i]!.stored };
        await this.#store.put(pendingWrite, item, index >= 0 ? { ifAbsent: true } : {}).catch(error => {
          if (!isRefused(error)) throw error;
        });
      }),
    );
  }

  override async deleteThread(thread_id: string): Promise<void> {
    for (;;) {
      const { items, cursor } = await this.#store.query(
        allOfThread,
        { thread_id },
        { limit: limits.together },
      );
      const steps = items.map(one => {
        if (one.entity === 'checkpoint') return write.delete(checkpoint, one.item);
        return one.entity === 'chunk' ? write.delete(chunk, one.item) : write.delete(pendingWrite, one.item);
      });
      if (steps.length > 0) await this.#store.batchWrite(steps, { pattern: 'delete a thread' });
      if (cursor === undefined) break;
    }
    await this.#store.delete(thread, { shard: shardOf(thread_id), thread_id });
  }

  #read(key: Address & { checkpoint_id: string }): Promise<Item | undefined> {
    return this.#store.get(checkpoint, key, { consistent: true, pattern: 'read a checkpoint' });
  }

  async *#threads(): AsyncGenerator<string> {
    for (let shard = 0; shard < limits.threadShards; shard++)
      for await (const { thread_id } of this.#store.all(threadsOfShard, { shard: String(shard) }))
        yield thread_id;
  }

  async #tuple(item: Item): Promise<CheckpointTuple> {
    const { parent_id } = item;
    const names = Object.keys(item.channels);
    const writes = await this.#writesOf(item);
    const raw = await readValues(this.#store, item.thread_id, [
      ...valuesOf(item),
      ...writes.map(({ value }) => value),
    ]);
    const [body, metadata, ...rest] = await Promise.all(
      raw.map(([type, bytes]) => this.serde.loadsTyped(type, bytes)),
    );
    const loaded = body as Checkpoint;
    loaded.channel_values = Object.fromEntries(names.map((name, i) => [name, rest[i]]));
    if (loaded.v < 4 && parent_id !== undefined) await this.#addPendingSends(loaded, item, parent_id);
    return {
      config: configOf(item),
      checkpoint: loaded,
      metadata: metadata as CheckpointMetadata,
      pendingWrites: writes.map(
        ({ task_id, channel }, i): CheckpointPendingWrite => [task_id, channel, rest[names.length + i]],
      ),
      ...(parent_id !== undefined && { parentConfig: configOf({ ...item, checkpoint_id: parent_id }) }),
    };
  }

  async #writesOf({ thread_id, ns, checkpoint_id }: Address & { checkpoint_id: string }) {
    const writes: ItemOf<typeof pendingWrite>[] = [];
    for await (const one of this.#store.all(writesOfCheckpoint, { thread_id, ns, checkpoint_id }))
      writes.push(one);
    return writes;
  }

  // Earlier versions of LangGraph stored pending sends among the writes of the parent.
  async #addPendingSends(loaded: Checkpoint, { thread_id, ns }: Address, parent_id: string): Promise<void> {
    const writes = await this.#writesOf({ thread_id, ns, checkpoint_id: parent_id });
    const sends = writes.filter(({ channel }) => channel === TASKS).map(({ value }) => value);
    const raw = await readValues(this.#store, thread_id, sends);
    loaded.channel_values[TASKS] = await Promise.all(
      raw.map(([type, bytes]) => this.serde.loadsTyped(type, bytes)),
    );
    const versions = Object.values(loaded.channel_versions);
    loaded.channel_versions[TASKS] =
      versions.length > 0 ? maxChannelVersion(...versions) : this.getNextVersion(undefined);
  }
}

const valuesOf = ({ body, metadata, channels }: Item): StoredValue[] => [
  body,
  metadata,
  ...Object.values(channels),
];

// A part of a key is never empty.
const nsOf = (checkpoint_ns: unknown): string => `~${String(checkpoint_ns ?? '')}`;

function addressOf({ configurable }: RunnableConfig): Address {
  const thread_id: unknown = configurable?.thread_id;
  if (typeof thread_id !== 'string' || thread_id === '')
    throw new TypeError('A checkpointer needs `configurable: { thread_id }` in the config, a text');
  return { thread_id, ns: nsOf(configurable?.checkpoint_ns) };
}

const configOf = ({ thread_id, ns, checkpoint_id }: Address & { checkpoint_id: string }): RunnableConfig => ({
  configurable: { thread_id, checkpoint_ns: ns.slice(1), checkpoint_id },
});

const shardOf = (thread_id: string): string =>
  String(createHash('sha256').update(thread_id).digest()[0]! % limits.threadShards);
