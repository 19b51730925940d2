import { Embeddings } from '@langchain/core/embeddings';
import type { RunnableConfig } from '@langchain/core/runnables';
import { Annotation, Command, END, interrupt, START, StateGraph } from '@langchain/langgraph';
import { emptyCheckpoint, uuid6 } from '@langchain/langgraph-checkpoint';
import { validate } from '@langchain/langgraph-checkpoint-validation';
import { createEngine } from '@stak/engine';
import { createLedger, createStore, createTables } from '@stak/table';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createCheckpointer, createGraphStore, langgraphTable } from '../src/index.ts';

const engines: { close(): Promise<void> }[] = [];
const closeAll = async () => {
  for (const engine of engines.splice(0)) await engine.close();
};

async function open() {
  const engine = await createEngine({ path: ':memory:', sweepIntervalMs: 0 });
  engines.push(engine);
  await createTables(engine, [langgraphTable]);
  const ledger = createLedger();
  return { engine, ledger, store: createStore({ client: engine.client, ledger }) };
}

// LangGraph's own suite for checkpointers, which takes Vitest's functions from where they are not.
Object.assign(globalThis, { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it });
validate({
  checkpointerName: '@stak/langgraph',
  createCheckpointer: async () => createCheckpointer((await open()).store),
  destroyCheckpointer: closeAll,
});

describe('a checkpointer', () => {
  afterEach(closeAll);

  const lines = Annotation.Root({
    lines: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
  });
  const graphOf = (store: Parameters<typeof createCheckpointer>[0]) =>
    new StateGraph(lines)
      .addNode('echo', ({ lines: said }) => ({ lines: [`${said.length} ${'x'.repeat(500)}`] }))
      .addNode('ask', () => ({ lines: [interrupt<string, string>('go on?')] }))
      .addEdge(START, 'echo')
      .addConditionalEdges('echo', ({ lines: said }) => (said[0] === 'ask' ? 'ask' : END))
      .addEdge('ask', END)
      .compile({ checkpointer: createCheckpointer(store) });

  it('resumes after an interrupt in another process, and keeps every state', async () => {
    const { store } = await open();
    const config = { configurable: { thread_id: 'a#b' } };
    await graphOf(store).invoke({ lines: ['ask'] }, config);
    const done = await graphOf(store).invoke(new Command({ resume: 'yes' }), config);
    expect(done.lines.at(-1)).toBe('yes');
    const states = [];
    for await (const state of graphOf(store).getStateHistory(config)) states.push(state);
    expect(states.length).toBeGreaterThan(3);
  });

  it('costs the same after many steps as after few', async () => {
    const { store, ledger } = await open();
    const saver = createCheckpointer(store);
    const units = () => ledger.entries().reduce((sum, { writeUnits }) => sum + writeUnits, 0);
    const costs: number[] = [];
    const lines: string[] = [];
    let config: RunnableConfig = { configurable: { thread_id: 'long' } };
    for (let step = 1; step <= 200; step++) {
      lines.push(`${step} ${'x'.repeat(1_000)}`);
      const saved = { ...emptyCheckpoint(), id: uuid6(step), channel_values: { lines } };
      const before = units();
      config = await saver.put(config, saved, { source: 'loop', step, parents: {} }, { lines: step });
      costs.push(units() - before);
    }
    const mean = (some: number[]) => some.reduce((sum, cost) => sum + cost, 0) / some.length;
    expect(mean(costs.slice(190))).toBeLessThan(mean(costs.slice(10, 20)) + 2);
    expect((await saver.getTuple(config))?.checkpoint.channel_values.lines).toEqual(lines);
  });

  it('deletes a thread with all its chunks, and no other', async () => {
    const { store, engine } = await open();
    const saver = createCheckpointer(store);
    const put = (thread_id: string, note: string) =>
      saver.put(
        { configurable: { thread_id } },
        { ...emptyCheckpoint(), id: uuid6(1), channel_values: { note: note.repeat(10_000) } },
        { source: 'input', step: 1, parents: {} },
        { note: 1 },
      );
    await put('one', 'a');
    await put('two', 'b');
    await saver.deleteThread('one');
    const { Items = [] } = await engine.client.scan({ TableName: 'langgraph' });
    expect(Items.filter(({ pk, sk }) => pk === 'THREAD#one' || sk === 'one')).toEqual([]);
    const kept = await saver.getTuple({ configurable: { thread_id: 'two' } });
    expect(kept?.checkpoint.channel_values.note).toBe('b'.repeat(10_000));
  });
});

// Two texts are near if they share letters.
class Letters extends Embeddings {
  constructor() {
    super({});
  }
  embedQuery = async (text: string) =>
    Array.from({ length: 26 }, (_, i) => text.split(String.fromCharCode(97 + i)).length - 1);
  embedDocuments = (texts: string[]) => Promise.all(texts.map(this.embedQuery));
}

describe('a store', () => {
  afterEach(closeAll);

  it('stores items by namespace, and finds them by prefix, filter and page', async () => {
    const graphStore = createGraphStore((await open()).store);
    await graphStore.put(['users', 'ann'], 'a', { age: 30, tag: 'x' });
    await graphStore.put(['users', 'ann', 'notes'], 'b', { age: 40 });
    await graphStore.put(['users', 'anna'], 'c', { age: 50 });
    await graphStore.put(['other/#'], 'd', { age: 60 });
    const keys = async (prefix: string[], options = {}) =>
      (await graphStore.search(prefix, options)).map(({ key }) => key).sort();
    expect(await keys(['users', 'ann'])).toEqual(['a', 'b']);
    expect(await keys([])).toEqual(['a', 'b', 'c', 'd']);
    expect(await keys(['users'], { filter: { age: { $gte: 40 } } })).toEqual(['b', 'c']);
    expect(await keys(['users'], { filter: { tag: 'x' } })).toEqual(['a']);
    expect(await graphStore.search(['users'], { limit: 1, offset: 1 })).toHaveLength(1);
    expect((await graphStore.get(['other/#'], 'd'))?.namespace).toEqual(['other/#']);
    expect(await graphStore.listNamespaces({ prefix: ['users'], maxDepth: 2 })).toEqual([
      ['users', 'ann'],
      ['users', 'anna'],
    ]);
    expect(await graphStore.listNamespaces({ suffix: ['notes'] })).toEqual([['users', 'ann', 'notes']]);
    await graphStore.delete(['users', 'ann'], 'a');
    expect(await graphStore.get(['users', 'ann'], 'a')).toBeNull();
  });

  it('keeps an item’s creation time, and searches by meaning', async () => {
    let now = 1_000;
    const index = { dims: 26, embeddings: new Letters(), fields: ['text'] };
    const graphStore = createGraphStore((await open()).store, { index, now: () => now });
    await graphStore.put(['docs'], 'tea', { text: 'green tea' });
    await graphStore.put(['docs'], 'rock', { text: 'hard rock' });
    await graphStore.put(['docs'], 'bare', { other: 1 });
    now = 2_000;
    await graphStore.put(['docs'], 'tea', { text: 'green tea leaf' });
    const found = await graphStore.search(['docs'], { query: 'tea tree' });
    expect(found.map(({ key }) => key)).toEqual(['tea', 'rock', 'bare']);
    expect(found[0]).toMatchObject({ createdAt: new Date(1_000), updatedAt: new Date(2_000) });
    expect(found[0]!.score).toBeGreaterThan(found[1]!.score!);
  });
});
