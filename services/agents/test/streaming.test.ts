import { EventEmitter, once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEngine, type Engine } from '@stak/engine';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type AgentsDeps, createModels } from '../src/index.ts';
import { conversationPath, type Fixture, openFixture, openProcess, say } from './agents-fixture.ts';
import { openStub, type Stream } from './openai-stub.ts';

type Event = { id: string; event: string; data: Record<string, unknown> };

// Told whenever the model was asked or an event has come.
const news = new EventEmitter();
const until = async (isSo: () => boolean): Promise<void> => {
  while (!isSo()) await once(news, 'news');
};

// Events as they come: `events` are those so far.
function readEvents(response: Response) {
  const events: Event[] = [];
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  const over = (async () => {
    let text = '';
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      const texts = (text + part.value).split('\n\n');
      text = texts.pop()!;
      for (const text of texts) {
        const [, id, event, data] = /id: (.*)\nevent: (.*)\ndata: (.*)/.exec(text) ?? [];
        if (data !== undefined) events.push({ id: id!, event: event!, data: JSON.parse(data) });
      }
      news.emit('news');
    }
  })();
  return { events, over, cancel: () => reader.cancel() };
}

describe('the events of an answer', () => {
  let fixture: Fixture;
  let answers: Stream[]; // the model says what a test tells it to, when it tells it
  let close: () => Promise<void>;
  let modelled: Pick<AgentsDeps, 'models'>;
  beforeEach(async () => {
    answers = [];
    const stub = await openStub((_, stream) => {
      answers.push(stream);
      news.emit('news');
    });
    modelled = { models: createModels({ openaiCompatible: { baseURL: stub.baseURL } }) };
    fixture = await openFixture(undefined, modelled);
    fixture.tenants.get('acme')!.settings = { ai_provider: 'openai-compatible', ai_model: 'stub' };
    close = async () => {
      await stub.close();
      await fixture.target.close();
    };
  });
  afterEach(() => close());

  const path = `${conversationPath('c')}/messages`;
  const headers = { Authorization: 'Bearer acme', Accept: 'text/event-stream' };
  const post = async (content: string, at: Fixture = fixture) =>
    readEvents(
      await at.app.request(path, {
        method: 'POST',
        headers: { ...headers, 'Content-Type': 'application/json' },
        body: JSON.stringify({ content }),
      }),
    );
  const follow = async (messageId: unknown, lastEventId: string, at: Fixture = fixture) =>
    readEvents(
      await at.app.request(`${path}/${messageId}`, {
        headers: { ...headers, 'Last-Event-ID': lastEventId },
      }),
    );
  const textOf = (events: readonly Event[]) =>
    events.flatMap(({ event, data }) => (event === 'delta' ? [data.text] : [])).join('');

  it('reach the caller while the answer is being generated', async () => {
    const asked = await post('Tell me a story.');
    await until(() => answers.length === 1);
    answers[0]!.text('Once ');
    await until(() => textOf(asked.events) === 'Once ');
    answers[0]!.text('upon a time.');
    answers[0]!.finish();
    await asked.over;
    expect(asked.events.map(({ id, event }) => [id, event])).toEqual([
      ['0', 'accepted'],
      ['1', 'delta'],
      ['2', 'delta'],
      ['3', 'reply'],
    ]);
    expect(asked.events[3]!.data.reply).toEqual({ role: 'assistant', content: 'Once upon a time.' });
  });

  it('are complete for a client that reconnects', async () => {
    const asked = await post('Tell me a story.');
    await until(() => answers.length === 1);
    answers[0]!.text('Once ', 'upon ');
    await until(() => asked.events.length === 3);
    await asked.cancel();
    answers[0]!.text('a ');
    const again = await follow(asked.events[0]!.data.message_id, asked.events[2]!.id);
    await until(() => textOf(again.events) === 'a ');
    answers[0]!.text('time.');
    answers[0]!.finish();
    await again.over;
    expect(textOf([...asked.events, ...again.events])).toBe('Once upon a time.');
    expect(again.events.map(({ id }) => id)).toEqual(['3', '4', '5']);
  });

  it('reach the callers of many chats a few at a time, and let other work run in between', async () => {
    const chats = Array.from({ length: 100 }, (_, i) => `acme~user-${i}`);
    const perIteration: number[] = [0];
    let isCounting = false;
    const count = () => {
      perIteration.push(0);
      counting = setImmediate(count);
    };
    let counting = setImmediate(count);
    const open = async (as: string) => {
      const { body } = await fixture.call('POST', '/v1/tenants/acme/conversations', { as, send: {} });
      const response = await fixture.app.request(`${conversationPath(body.conversation_id)}/messages`, {
        method: 'POST',
        headers: { ...headers, Authorization: `Bearer ${as}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ content: 'Tell me a story.' }),
      });
      const read = async () => {
        for await (const _ of response.body!) if (isCounting) perIteration[perIteration.length - 1]! += 1;
      };
      return { over: read() };
    };
    const opened = await Promise.all(chats.map(open));
    await until(() => answers.length === chats.length);
    isCounting = true;
    for (const answer of answers) answer.text('Once ');
    for (const answer of answers) answer.finish();
    await Promise.all(opened.map(({ over }) => over));
    clearImmediate(counting);
    expect(perIteration.reduce((sum, one) => sum + one)).toBe(3 * chats.length); // delta, reply, end
    expect(Math.max(...perIteration)).toBeLessThanOrEqual(100);
  });

  it('are sent for a message that had to wait for another one', async () => {
    const first = await post('Tell me a story.');
    await until(() => answers.length === 1);
    const second = await post('And another one.');
    answers[0]!.text('No.');
    answers[0]!.finish();
    await first.over;
    const worked = fixture.agents.runDue();
    await until(() => answers.length === 2);
    answers[1]!.text('Well, ');
    await until(() => textOf(second.events) === 'Well, ');
    answers[1]!.text('all right.');
    answers[1]!.finish();
    await Promise.all([worked, second.over]);
    expect(second.events.map(({ event }) => event)).toEqual(['accepted', 'delta', 'delta', 'reply']);
  });

  describe('in another process', () => {
    const folders: string[] = [];
    const engines: Engine[] = [];
    const openEngine = async (folder: string) => {
      const engine = await createEngine({ path: folder, sweepIntervalMs: 0 });
      engines.push(engine);
      return engine;
    };
    // Two of them on one store: the first has the model.
    const openTwo = async () => {
      const folder = await mkdtemp(join(tmpdir(), 'stak-agents-'));
      folders.push(folder);
      const [first, second] = [await openEngine(folder), await openEngine(folder)];
      const target = { client: first.client, control: first, close: async () => {} };
      const { models } = modelled;
      const making = await openFixture(async () => target, { models, peers: first });
      making.tenants.get('acme')!.settings = { ai_provider: 'openai-compatible', ai_model: 'stub' };
      const { client } = second;
      const other = openProcess({ ...target, client }, { clock: making.clock, client, peers: second });
      return { making, other, first };
    };
    afterEach(async () => {
      await Promise.all(engines.splice(0).map(engine => engine.close()));
      await Promise.all(folders.splice(0).map(folder => rm(folder, { recursive: true })));
    });

    it('are sent as they happen, with the earlier ones', async () => {
      const { making, other } = await openTwo();
      const asked = await post('Tell me a story.', making);
      await until(() => answers.length === 1);
      answers[0]!.text('Once ', 'upon ');
      await until(() => asked.events.length === 3);
      const { message_id } = asked.events[0]!.data;
      const early = await follow(message_id, '1', other);
      await until(() => textOf(early.events) === 'upon ');
      const late = await follow(message_id, '0', other);
      await until(() => textOf(late.events) === 'Once upon ');
      const waits: number[] = [];
      for (let n = 0; n < 20; n++) {
        const before = early.events.length;
        const saidAt = performance.now();
        answers[0]!.text(`${n} `);
        await until(() => early.events.length > before);
        waits.push(performance.now() - saidAt);
      }
      answers[0]!.finish();
      await Promise.all([asked.over, early.over, late.over]);
      expect(textOf(late.events)).toBe(textOf(asked.events));
      expect(late.events.at(-1)).toEqual(asked.events.at(-1));
      console.log(
        `from the model to another process's client: ${waits.toSorted((a, b) => a - b)[10]!.toFixed(1)} ms`,
      );
    });

    it('are sent for a message that waits for a turn of that process', async () => {
      const { making, other } = await openTwo();
      const first = await post('Tell me a story.', making);
      await until(() => answers.length === 1);
      const second = await post('And another one.', other);
      await until(() => second.events.length === 1);
      answers[0]!.text('No.');
      answers[0]!.finish();
      await first.over;
      const worked = making.agents.runDue();
      await until(() => answers.length === 2);
      answers[1]!.text('Well.');
      await until(() => textOf(second.events) === 'Well.');
      answers[1]!.finish();
      await Promise.all([worked, second.over]);
      expect(second.events.map(({ event }) => event)).toEqual(['accepted', 'delta', 'reply']);
    });

    it('are sent only to their followers, and to no other conversation or tenant', async () => {
      const { making, other, first } = await openTwo();
      const sent: unknown[] = [];
      const { send } = first;
      first.send = (topic, body, to) => {
        sent.push(body);
        send(topic, body, to);
      };
      const asked = await post('Tell me a story.', making);
      await until(() => answers.length === 1);
      answers[0]!.text('Once ');
      await until(() => textOf(asked.events) === 'Once ');
      const stranger = await other.call('GET', `${path}/${asked.events[0]!.data.message_id}`, {
        as: 'globex',
        headers: { Accept: 'text/event-stream' },
      });
      expect(stranger.status).toBe(404);
      answers[0]!.finish();
      await asked.over;
      // Nobody in another process may follow it, so only listeners in this one got events.
      expect(sent.filter(body => (body as { kind: string }).kind === 'events')).toEqual([]);
    });

    it('restart in the process that takes over from a dead one', async () => {
      const { making, other, first } = await openTwo();
      const asked = await post('Tell me a story.', making);
      await until(() => answers.length === 1);
      answers[0]!.text('Once ');
      await until(() => textOf(asked.events) === 'Once ');
      const following = await follow(asked.events[0]!.data.message_id, '0', other);
      await until(() => textOf(following.events) === 'Once ');
      await first.close();
      other.clock.set(other.clock.now() + 31_000); // its lease has ended
      await other.agents.runDue();
      await following.over;
      expect(following.events.map(({ event }) => event)).toEqual(['delta', 'restart', 'delta', 'reply']);
    });
  });

  it('start again when a failed turn is retried', async () => {
    const first = await post('Tell me a story.');
    await until(() => answers.length === 1);
    const second = await post('And another one.');
    answers[0]!.text('No.');
    answers[0]!.finish();
    await first.over;
    const failing = fixture.agents.runDue();
    await until(() => answers.length === 2);
    answers[1]!.text('Well');
    await until(() => textOf(second.events) === 'Well');
    answers[1]!.breakOff();
    await until(() => second.events.at(-1)!.event === 'restart');
    await fixture.clock.advance(1000); // the model is tried once more
    await until(() => answers.length === 3);
    answers[2]!.refuse(400);
    await failing;
    await fixture.clock.advance(60_000);
    const working = fixture.agents.runDue();
    await until(() => answers.length === 4);
    answers[3]!.text('All right.');
    answers[3]!.finish();
    await Promise.all([working, second.over]);
    const afterRestart = second.events.slice(second.events.findLastIndex(({ event }) => event === 'restart'));
    expect(textOf(afterRestart)).toBe('All right.');
    expect(second.events.map(({ id }) => id)).toEqual(second.events.map((_, i) => String(i)));
  });

  it('end with an error if there is no answer', async () => {
    const asked = await post('Tell me a story.');
    await until(() => answers.length === 1);
    answers[0]!.refuse(400);
    await asked.over;
    expect(asked.events.map(({ event }) => event)).toEqual(['accepted', 'error']);
    expect(asked.events[1]!.data.code).toBe('agents.model_failed');
    expect((await say(fixture, 'c', 'hello')).body.seq).toBe(1);
  });
});
