import { createHttpServer } from '@stak/engine';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type StreamSource, tailTable, type UnknownChange } from '../src/index.ts';
import { awsSource } from '../src/source/aws-source.ts';
import { type Fixture, note, openFixture, until, writeNote } from './stream-fixture.ts';

const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };

describe.each([
  ['that wakes its readers', async (fixture: Fixture) => ({ source: fixture.source, close: async () => {} })],
  [
    'that is polled, over the AWS SDK',
    async (fixture: Fixture) => {
      const server = createHttpServer(fixture.engine, { port: 0 });
      const { url } = await server.listen();
      const source = awsSource({ region: 'us-east-1', endpoint: url, credentials });
      const close = async () => {
        source.close();
        await server.close();
      };
      return { source: fixture.paced(source), close };
    },
  ],
])('following a source %s', (_name, open) => {
  let fixture: Fixture;
  let opened: { source: StreamSource; close(): Promise<void> };
  beforeEach(async () => {
    fixture = await openFixture({ shards: 2 });
    opened = await open(fixture);
  });
  afterEach(async () => {
    await opened.close();
    await fixture.engine.close();
  });

  // Collects what is heard, until it is stopped.
  async function startTail(source = opened.source) {
    const heard: UnknownChange[] = [];
    const leaving = new AbortController();
    let isReady = false;
    let missed = 0;
    const options = {
      source,
      table: 'notes',
      clock: fixture.clock,
      onReady: () => {
        isReady = true;
      },
      onChange: (change: UnknownChange) => void heard.push(change),
      onMissed: () => {
        missed += 1;
      },
    };
    const ended = tailTable(options, leaving.signal);
    ended.catch(() => {});
    await until(fixture.clock, () => isReady);
    const stop = async () => {
      leaving.abort();
      await ended;
      expect(missed).toBe(0);
    };
    return { heard, ended, stop };
  }

  it('receives what is written from then on, as it is stored, across closing shards', async () => {
    await writeNote(fixture, 'a');
    const { heard, stop } = await startTail();
    await writeNote(fixture, 'a');
    await fixture.store.delete(note, { id: 'a' });
    await until(fixture.clock, () => heard.length === 2);
    expect(heard).toMatchObject([
      {
        kind: 'modify',
        entity: undefined,
        old: { version: 1 },
        new: { pk: 'note#a', sk: 'note', version: 2 },
      },
      { kind: 'remove', keys: { pk: 'note#a', sk: 'note' }, new: undefined },
    ]);
    await fixture.engine.rollShards('notes');
    for (const id of ['b', 'c', 'd']) await writeNote(fixture, id);
    await until(fixture.clock, () => heard.length === 5);
    expect(new Set(heard.slice(2).map(change => change.keys.pk))).toEqual(
      new Set(['note#b', 'note#c', 'note#d']),
    );
    await stop();
    await writeNote(fixture, 'e');
    expect(heard).toHaveLength(5);
  });

  it('survives a temporarily refused listing of shards', async () => {
    let refusals = 2; // before it is ready
    const counted = async <Output>(call: () => Promise<Output>): Promise<Output> => {
      if (refusals === 0) return call();
      refusals -= 1;
      throw Object.assign(new Error('slow down'), { name: 'LimitExceededException' });
    };
    const { source } = opened;
    const { heard, stop } = await startTail({
      ...source,
      listStreams: input => counted(() => source.listStreams(input)),
      describeStream: input => counted(() => source.describeStream(input)),
      getShardIterator: input => counted(() => source.getShardIterator(input)),
    });
    await writeNote(fixture, 'a');
    await until(fixture.clock, () => heard.length === 1);
    refusals = 3;
    await fixture.engine.rollShards('notes');
    await writeNote(fixture, 'b');
    await until(fixture.clock, () => heard.length === 2);
    await stop();
  });

  it('ends when the stream cannot be read', async () => {
    const { ended } = await startTail({
      ...opened.source,
      getRecords: () => Promise.reject(new Error('no more')),
    });
    await expect(ended).rejects.toThrow('no more');
  });
});
