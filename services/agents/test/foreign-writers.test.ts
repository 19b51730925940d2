import type { DynamoClient } from '@stak/table';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineSkill } from '../src/index.ts';
import {
  conversationPath,
  everyItem,
  type Fixture,
  isKept,
  openFixture,
  openProcess,
  say,
  settle,
  targets,
  until,
} from './agents-fixture.ts';

type Plain = { role: string; content: string };

// A program that knows the document and nothing else.
function oldClient({ target, clock }: Fixture) {
  const Key = (id: string) => ({ pk: 'acme', sk: id });
  const read = async (id: string): Promise<Plain[]> => {
    const { Item } = await target.client.get({ TableName: 'conversations', Key: Key(id) });
    return Item ? JSON.parse(Item.messages) : [];
  };
  const write = (id: string, messages: readonly Plain[]) => {
    const updated_at = new Date(clock.now()).toISOString().replace(/\.\d+Z$/, 'Z');
    const ttl = Math.floor(clock.now() / 1000) + 30 * 24 * 60 * 60;
    const Item = { ...Key(id), messages: JSON.stringify(messages), updated_at, ttl };
    return target.client.put({ TableName: 'conversations', Item });
  };
  return {
    read,
    write,
    saveTurn: async (id: string, question: string, answer: string, known?: readonly Plain[]) =>
      write(id, [
        ...(known ?? (await read(id))),
        { role: 'user', content: question },
        { role: 'assistant', content: answer },
      ]),
    clear: (id: string) => target.client.delete({ TableName: 'conversations', Key: Key(id) }),
  };
}

describe.each(Object.entries(targets))('a program that knows only the document, %s', (_, make) => {
  let fixture: Fixture;
  let old: ReturnType<typeof oldClient>;
  beforeEach(async () => {
    fixture = await openFixture(make);
    old = oldClient(fixture);
  });
  afterEach(() => fixture.target.close());

  const questions = async (id: string) => {
    const { body } = await fixture.call('GET', `${conversationPath(id)}/messages?limit=100`);
    return (body.data as { messages: Plain[] }[])
      .flatMap(turn => turn.messages)
      .filter(({ role }) => role === 'user')
      .map(({ content }) => content);
  };

  it('starts a conversation that continues here', async () => {
    await old.saveTurn('c', 'q1', 'a1');
    const read = await fixture.call('GET', conversationPath('c'));
    expect(read.body).toMatchObject({ turns: 1, messages: [{ content: 'q1' }, { content: 'a1' }] });
    expect((await fixture.call('GET', conversationPath('c'), { as: 'acme~ann' })).status).toBe(404);
    await say(fixture, 'c', 'hello');
    expect(await questions('c')).toEqual(['q1', 'hello']);
    expect((await old.read('c')).map(one => one.content).slice(0, 3)).toEqual(['q1', 'a1', 'hello']);
  });

  it('alternates turns with ours', async () => {
    await say(fixture, 'c', 'one');
    await old.saveTurn('c', 'two', 'a');
    await say(fixture, 'c', 'three');
    await old.saveTurn('c', 'four', 'a');
    await old.saveTurn('c', 'five', 'a');
    expect(await questions('c')).toEqual(['one', 'two', 'three', 'four', 'five']);
    const { body } = await fixture.call('GET', '/v1/tenants/acme/conversations');
    expect(body.data[0]).toMatchObject({ conversation_id: 'c', turns: 5 });
  });

  it('loses none of our turns that it had not read', async () => {
    await say(fixture, 'c', 'one');
    const known = await old.read('c');
    await say(fixture, 'c', 'two');
    await old.saveTurn('c', 'three', 'a', known);
    expect(await questions('c')).toEqual(['one', 'two', 'three']);
  });

  it('writes the item without our attributes, which are kept', async () => {
    await say(fixture, 'c', 'one', { user_id: 'ann' });
    await fixture.call('PATCH', conversationPath('c'), { send: { title: 'Weekly' } });
    await old.saveTurn('c', 'two', 'a');
    const { body } = await fixture.call('GET', conversationPath('c'), { as: 'acme~ann' });
    expect(body).toMatchObject({ title: 'Weekly', user_id: 'ann', channel: 'dashboard', turns: 2 });
  });

  it('may write messages of any length', async () => {
    await old.saveTurn('c', 'x'.repeat(150_000), 'y'.repeat(200_000));
    await old.saveTurn('c', 'short', 'z');
    await say(fixture, 'c', 'hello');
    expect((await questions('c')).map(text => text.length)).toEqual([150_000, 5, 5]);
  });

  it('may leave out older messages', async () => {
    for (const text of ['one', 'two', 'three']) await say(fixture, 'c', text);
    await old.saveTurn('c', 'four', 'a', (await old.read('c')).slice(-2));
    expect(await questions('c')).toEqual(['one', 'two', 'three', 'four']);
  });

  it('clears, and what it writes afterwards is new', async () => {
    await say(fixture, 'c', 'my secret is 777');
    await old.clear('c');
    expect((await fixture.call('GET', conversationPath('c'))).status).toBe(404);
    await old.saveTurn('c', 'again', 'a');
    expect(await questions('c')).toEqual(['again']);
    await say(fixture, 'c', 'hello');
    expect(await questions('c')).toEqual(['again', 'hello']);
    await settle(fixture);
    expect(await isKept(fixture, '777')).toBe(false);
  });

  it('clears, and our next turn is the first', async () => {
    await say(fixture, 'c', 'one');
    await old.clear('c');
    expect((await say(fixture, 'c', 'hello')).body.seq).toBe(1);
    expect(await questions('c')).toEqual(['hello']);
  });

  it('may write invalid data: the readable part is used', async () => {
    await say(fixture, 'c', 'one');
    await old.write('c', [
      ...(await old.read('c')),
      { role: 'alien', content: 'x' },
      7 as never,
      null as never,
    ]);
    await say(fixture, 'c', 'two');
    expect(await questions('c')).toEqual(['one', 'two']);
    await fixture.target.client.put({
      TableName: 'conversations',
      Item: { pk: 'acme', sk: 'odd', messages: '{' },
    });
    expect((await fixture.call('GET', conversationPath('odd'))).body).toMatchObject({
      turns: 0,
      messages: [],
    });
  });
});

// A client that lets somebody else act once, just before an update that is meant.
function interrupted(
  client: DynamoClient,
  isMeant: (expression: string) => boolean,
  act: () => Promise<unknown>,
) {
  let isDone = false;
  const update: DynamoClient['update'] = async input => {
    const names = Object.values(input.ExpressionAttributeNames ?? {}).join(' ');
    if (!isDone && isMeant(`${names} ${input.UpdateExpression}`)) {
      isDone = true;
      await act();
    }
    return client.update(input);
  };
  return { ...client, update };
}
const takesLease = (text: string) => text.includes('leased_until') && !text.includes('REMOVE');
const endsCleaning = (text: string) => text.includes('has_stale') && text.includes('REMOVE');

describe('a lease that turns out to be unnecessary', () => {
  it('is released by a reader whose work another one has done', async () => {
    const fixture = await openFixture();
    const { clock, target } = fixture;
    const act = () => fixture.call('GET', conversationPath('c'));
    const late = openProcess(target, { clock, client: interrupted(target.client, takesLease, act) });
    await oldClient(fixture).saveTurn('c', 'q1', 'a1');
    expect((await late.call('GET', conversationPath('c'))).body.turns).toBe(1);
    fixture.tenants.get('acme')!.settings = { busy: 'refuse' };
    expect(await say(fixture, 'c', 'hello')).toMatchObject({ status: 200, body: { seq: 2 } });
    await target.close();
  });

  it('is released by a reader whose work fails', async () => {
    const fixture = await openFixture();
    const { clock, target } = fixture;
    const fail = async () => Promise.reject(new Error('the network is gone'));
    const failing = openProcess(target, { clock, client: { ...target.client, transactWrite: fail } });
    await oldClient(fixture).saveTurn('c', 'q1', 'a1');
    expect((await failing.call('GET', conversationPath('c'))).status).toBe(500);
    fixture.tenants.get('acme')!.settings = { busy: 'refuse' };
    expect((await say(fixture, 'c', 'hello')).status).toBe(200);
    await target.close();
  });

  it('strands no message that arrived while it was held', async () => {
    const fixture = await openFixture();
    const { clock, target } = fixture;
    await say(fixture, 'c', 'one');
    let answer: ReturnType<typeof say> | undefined;
    const act = async () => {
      answer = say(fixture, 'c', 'two');
      await until(async () => (await everyItem(target)).some(({ status }) => status === 'waiting'));
    };
    const cleaning = openProcess(target, { clock, client: interrupted(target.client, endsCleaning, act) });
    await fixture.call('DELETE', `${conversationPath('c')}/messages`);
    await settle(cleaning);
    clock.advance(1_000); // the sender looks again
    expect(await answer).toMatchObject({ status: 200, body: { seq: 1 } });
    await target.close();
  });
});

describe('a program that knows only the documented item, while an answer is generated', () => {
  const open = async (during: (old: ReturnType<typeof oldClient>) => Promise<unknown>) => {
    const skill = defineSkill({
      name: 'slow',
      description: 'Lets somebody else write.',
      triggers: ['slow'],
      parameters: z.strictObject({}),
      async run() {
        await during(oldClient(fixture));
        return { data: {}, text: 'Done.' };
      },
    });
    const fixture = await openFixture(undefined, { skills: [skill] });
    fixture.tenants.get('acme')!.settings = { enabled_skills: ['slow'] };
    return fixture;
  };
  const questions = async (fixture: Fixture) =>
    (
      (await fixture.call('GET', `${conversationPath('c')}/messages`)).body.data as { messages: Plain[] }[]
    ).map(turn => turn.messages[0]!.content);

  it('has its turn stored before ours', async () => {
    const fixture = await open(old => old.saveTurn('c', 'theirs', 'a'));
    await say(fixture, 'c', 'hello');
    expect((await say(fixture, 'c', 'slow')).body.seq).toBe(3);
    expect(await questions(fixture)).toEqual(['hello', 'theirs', 'slow']);
    await fixture.target.close();
  });

  it('clears, and our answer does not restore it', async () => {
    const fixture = await open(old => old.clear('c'));
    await say(fixture, 'c', 'hello');
    expect((await say(fixture, 'c', 'slow')).body.code).toBe('agents.conversation_cleared');
    expect((await fixture.call('GET', conversationPath('c'))).status).toBe(404);
    await fixture.target.close();
  });
});
