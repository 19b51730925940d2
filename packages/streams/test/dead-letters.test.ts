import { createLogger } from '@stak/kit';
import { tableErrors } from '@stak/table';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createDeadLetters, createDeadLetterWatch, PermanentError, requestRedrive } from '../src/index.ts';
import { errorText } from '../src/limits.ts';
import {
  comment,
  type Fixture,
  type NoteChange,
  note,
  notesTable,
  openFixture,
  startConsumer,
  until,
  writeNotes,
} from './stream-fixture.ts';

let fixture: Fixture;

beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(() => fixture.engine.close());

const lettersOf = async (consumer: string) => {
  const letters = createDeadLetters({ store: fixture.store, clock: fixture.clock, consumer });
  const found = [];
  for await (const letter of letters.list()) found.push(letter);
  return found;
};

// Handles notes, except for those whose version is poison.
function picky(poison: Set<number>, error: () => Error = () => new Error('indigestible')) {
  const seen: number[] = [];
  const attempts: number[] = [];
  const subscription = {
    name: 'picky',
    table: notesTable,
    entities: [note],
    attempts: 3,
    handle(change: NoteChange, context: { attempt: number }) {
      const { version } = change.new!;
      attempts.push(context.attempt);
      if (poison.has(version)) throw error();
      seen.push(version);
    },
  };
  return { seen, attempts, subscription };
}

describe('a poison record', () => {
  test('is retried a few times with growing delays, set aside, and the rest continues', async () => {
    const { seen, attempts, subscription } = picky(new Set([2]));
    const startedAt = fixture.clock.now();
    await writeNotes(fixture, ['a'], 4);
    const consumer = startConsumer(fixture, { subscription });
    await until(fixture.clock, () => seen.length === 3);
    await consumer.stop();
    expect(seen).toEqual([1, 3, 4]);
    expect(attempts).toEqual([1, 1, 2, 3, 1, 1]);
    expect(fixture.clock.now() - startedAt).toBeGreaterThan(300);
    expect(consumer.counters()).toMatchObject({ retries: 2, deadLetters: 1, records: 4 });
    const [letter, ...others] = await lettersOf('picky');
    expect(others).toEqual([]);
    expect(letter).toMatchObject({ attempts: 3, error: expect.stringContaining('indigestible') });
    expect(letter?.record).toContain('"eventName":"MODIFY"');
    expect((await consumer.status()).deadLetters).toBe(1);
    expect(consumer.alarms).toMatchObject([{ kind: 'set_aside', consumer: 'picky' }]);
  });

  test.each([
    ['throttled', () => Object.assign(new Error('slow down'), { name: 'ThrottlingException' })],
    ['busy', () => tableErrors.create('table.busy', 'the table is too busy')],
    ['reset', () => Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })],
    ['failing', () => Object.assign(new Error('internal'), { name: 'InternalServerError' })],
  ])('is not confused with a store that is %s, however long', async (_, error) => {
    const poison = new Set([2]);
    const { seen, attempts, subscription } = picky(poison, error);
    await writeNotes(fixture, ['a'], 3);
    const consumer = startConsumer(fixture, { subscription });
    const startedAt = fixture.clock.now();
    await until(fixture.clock, () => fixture.clock.now() - startedAt > 60_000);
    expect(attempts.length).toBeGreaterThan(10);
    expect(attempts.length).toBeLessThan(100);
    poison.clear();
    await until(fixture.clock, () => seen.length === 3);
    await consumer.stop();
    expect(seen).toEqual([1, 2, 3]);
    expect(consumer.counters().deadLetters).toBe(0);
    expect(consumer.alarms).toEqual([]);
  });

  test('in a batch is not confused with a throttled store', async () => {
    let isThrottled = true;
    const sizes: number[] = [];
    const subscription = {
      name: 'batches',
      table: notesTable,
      entities: [note],
      attempts: 2,
      handleBatch(changes: readonly unknown[]) {
        if (isThrottled) throw tableErrors.create('table.busy', 'the table is too busy');
        sizes.push(changes.length);
      },
    };
    await writeNotes(fixture, ['a'], 3);
    const consumer = startConsumer(fixture, { subscription });
    await until(fixture.clock, () => consumer.counters().retries > 10);
    isThrottled = false;
    await until(fixture.clock, () => consumer.counters().records === 3);
    await consumer.stop();
    expect(sizes).toEqual([3]);
    expect(await lettersOf('batches')).toEqual([]);
  });

  test('raises an alarm, and is announced once', async () => {
    const lines: string[] = [];
    const log = createLogger({ level: 'warn', destination: { write: line => void lines.push(line) } });
    const watch = createDeadLetterWatch({ ...fixture, log, consumers: ['picky', 'other'] });
    expect(await watch.read()).toEqual([]);
    const { subscription } = picky(new Set([1, 2]));
    await writeNotes(fixture, ['a'], 2);
    const consumer = startConsumer(fixture, { subscription, onAlarm: watch.note });
    await until(fixture.clock, () => consumer.counters().deadLetters === 2);
    await consumer.stop();
    expect(await watch.read()).toEqual(['picky']);
    await fixture.clock.advance(60_000);
    expect(await watch.read()).toEqual(['picky']);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('stak streams letters picky');
  });

  test('is set aside at once if its handler sees no hope', async () => {
    const { seen, attempts, subscription } = picky(new Set([1]), () => new PermanentError('never'));
    await writeNotes(fixture, ['a'], 2);
    const consumer = startConsumer(fixture, { subscription });
    await until(fixture.clock, () => seen.length === 1);
    await consumer.stop();
    expect(attempts).toEqual([1, 1]);
    expect(consumer.counters()).toMatchObject({ retries: 0, deadLetters: 1 });
  });

  test('does not delay other items of its page while it is retried', async () => {
    const { seen, subscription } = picky(new Set([1]));
    await fixture.store.put(note, { id: 'bad', version: 1 });
    await fixture.store.put(note, { id: 'good', version: 5 });
    const consumer = startConsumer(fixture, { subscription });
    await until(fixture.clock, () => seen.length === 1, { stepMs: 0 });
    expect(consumer.counters().deadLetters).toBe(0);
    await until(fixture.clock, () => consumer.counters().deadLetters === 1);
    await consumer.stop();
  });

  test('in a batch is found, and the others of the batch are handled', async () => {
    const batches: number[][] = [];
    const subscription = {
      name: 'batches',
      table: notesTable,
      entities: [note],
      attempts: 2,
      handleBatch(changes: readonly { new?: unknown }[]) {
        const versions = changes.map(change => (change.new as { version: number }).version);
        if (versions.includes(2)) throw new Error('indigestible');
        batches.push(versions);
      },
    };
    await writeNotes(fixture, ['a'], 3);
    const consumer = startConsumer(fixture, { subscription });
    await until(fixture.clock, () => consumer.counters().records === 3);
    await writeNotes(fixture, ['a'], 1);
    await until(fixture.clock, () => batches.length === 3);
    await consumer.stop();
    expect(batches).toEqual([[1], [3], [4]]);
    expect(await lettersOf('batches')).toHaveLength(1);
  });

  test('is set aside even if its reason is cut within a character', async () => {
    const reason = `${'x'.repeat(errorText - 'Error: '.length - 1)}💥`;
    const { seen, subscription } = picky(new Set([1]), () => new Error(reason));
    await writeNotes(fixture, ['a'], 2);
    const consumer = startConsumer(fixture, { subscription });
    await until(fixture.clock, () => seen.length === 1);
    await consumer.stop();
    expect((await lettersOf('picky')).map(letter => letter.error)).toEqual([`Error: ${reason.slice(0, -2)}`]);
  });

  test('whose JSON exceeds a transaction is stored whole', async () => {
    const text = '\u0001'.repeat(390_000);
    const position = { id: 'a', author: 'x' };
    await fixture.store.put(comment, { ...position, text });
    await fixture.store.update(comment, position, { set: { text: text.replace(/.$/, '2') } });
    let isPoison = true;
    const lengths: number[] = [];
    const subscription = {
      name: 'long',
      table: notesTable,
      entities: [comment],
      attempts: 1,
      handle(change: { old?: unknown; new?: unknown }) {
        if (isPoison) throw new Error('too much');
        for (const image of [change.old, change.new])
          lengths.push((image as { text: string } | undefined)?.text.length ?? 0);
      },
    };
    const consumer = startConsumer(fixture, { subscription });
    await until(fixture.clock, () => consumer.counters().deadLetters === 2);
    isPoison = false;
    await consumer.redrive();
    await until(fixture.clock, () => consumer.counters().redriven === 2);
    await consumer.stop();
    expect(lengths).toEqual([0, text.length, text.length, text.length]);
  });

  test('larger than an item is stored whole, including bytes', async () => {
    const text = 'ü€😀'.repeat(38_000);
    const put = (extra: string) =>
      fixture.client.put({
        TableName: 'notes',
        Item: {
          pk: 'note#a',
          sk: 'comment#x',
          id: 'a',
          author: 'x',
          text,
          extra,
          bytes: new Uint8Array([0, 255]),
        },
      });
    await put('1');
    await put('2');
    let isPoison = true;
    const seen: unknown[] = [];
    const subscription = {
      name: 'large',
      table: notesTable,
      entities: [comment],
      attempts: 1,
      handle(change: { old?: unknown; new?: unknown }) {
        if (isPoison) throw new Error('too much');
        seen.push(change.old, change.new);
      },
    };
    const consumer = startConsumer(fixture, { subscription });
    await until(fixture.clock, () => consumer.counters().deadLetters === 2);
    expect((await lettersOf('large')).map(letter => letter.more_parts)).toEqual([1, 2]);
    isPoison = false;
    await consumer.redrive();
    await until(fixture.clock, () => consumer.counters().redriven === 2);
    await consumer.stop();
    const whole = { id: 'a', author: 'x', text, bytes: new Uint8Array([0, 255]) };
    expect(seen).toEqual([
      undefined,
      { ...whole, extra: '1' },
      { ...whole, extra: '1' },
      { ...whole, extra: '2' },
    ]);
    const left = await fixture.client.scan({ TableName: 'stak-streams' });
    expect(left.Items?.filter(({ pk }) => /^(letters|parts)#/.test(pk))).toEqual([]);
  });
});

describe('redrive', () => {
  test('handles dead letters again and keeps those that fail again', async () => {
    const poison = new Set([1, 2]);
    const { seen, subscription } = picky(poison);
    await writeNotes(fixture, ['a'], 3);
    const consumer = startConsumer(fixture, { subscription });
    await until(fixture.clock, () => consumer.counters().records === 3);
    poison.delete(1);
    await consumer.redrive();
    await until(fixture.clock, async () => !(await consumer.status()).redriving);
    expect(seen).toEqual([3, 1]);
    expect(await lettersOf('picky')).toMatchObject([{ attempts: 4 }]);
    poison.clear();
    // As another process asks for it.
    await requestRedrive(fixture.store, fixture.clock, 'picky');
    await until(fixture.clock, () => seen.length === 3);
    await until(fixture.clock, async () => (await lettersOf('picky')).length === 0);
    await consumer.stop();
    expect(seen).toEqual([3, 1, 2]);
  });

  test('that fails because the store is throttled continues later', async () => {
    const poison = new Set([1]);
    let error = new Error('indigestible');
    const { seen, subscription } = picky(poison, () => error);
    await writeNotes(fixture, ['a']);
    const consumer = startConsumer(fixture, { subscription });
    await until(fixture.clock, () => consumer.counters().deadLetters === 1);
    error = tableErrors.create('table.busy', 'the table is too busy');
    await consumer.redrive();
    await until(fixture.clock, () => consumer.counters().failures > 3);
    expect(await lettersOf('picky')).toMatchObject([{ attempts: 3 }]);
    poison.clear();
    await until(fixture.clock, () => seen.length === 1);
    await until(fixture.clock, async () => (await lettersOf('picky')).length === 0);
    await consumer.stop();
  });

  test('waits for the consumer to run', async () => {
    const poison = new Set([1]);
    const { seen, subscription } = picky(poison);
    await writeNotes(fixture, ['a']);
    const first = startConsumer(fixture, { subscription });
    await until(fixture.clock, () => first.counters().deadLetters === 1);
    await first.stop();
    poison.clear();
    await requestRedrive(fixture.store, fixture.clock, 'picky');
    expect((await first.status()).redriving).toBe(true);
    const second = startConsumer(fixture, { subscription });
    await until(fixture.clock, () => seen.length === 1);
    await second.stop();
  });
});
