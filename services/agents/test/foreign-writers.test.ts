import type { DynamoClient } from '@stak/table';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineSkill } from '../src/index.ts';
import {
  conversationPath,
  everyItem,
  isKept,
  openPlace,
  openProcess,
  type Place,
  say,
  settle,
  targets,
  until,
} from './agents-fixture.ts';

type Plain = { role: string; content: string };

// A program that knows the document and nothing else.
function oldClient({ target, clock }: Place) {
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
  let place: Place;
  let old: ReturnType<typeof oldClient>;
  beforeEach(async () => {
    place = await openPlace(make);
    old = oldClient(place);
  });
  afterEach(() => place.target.close());

  const questions = async (id: string) => {
    const { body } = await place.call('GET', `${conversationPath(id)}/messages?limit=100`);
    return (body.data as { messages: Plain[] }[])
      .flatMap(turn => turn.messages)
      .filter(({ role }) => role === 'user')
      .map(({ content }) => content);
  };

  it('begins a conversation that goes on here', async () => {
    await old.saveTurn('c', 'q1', 'a1');
    const read = await place.call('GET', conversationPath('c'));
    expect(read.body).toMatchObject({ turns: 1, messages: [{ content: 'q1' }, { content: 'a1' }] });
    expect((await place.call('GET', conversationPath('c'), { as: 'acme~ann' })).status).toBe(404);
    await say(place, 'c', 'hello');
    expect(await questions('c')).toEqual(['q1', 'hello']);
    expect((await old.read('c')).map(one => one.content).slice(0, 3)).toEqual(['q1', 'a1', 'hello']);
  });

  it('takes turns with ours', async () => {
    await say(place, 'c', 'one');
    await old.saveTurn('c', 'two', 'a');
    await say(place, 'c', 'three');
    await old.saveTurn('c', 'four', 'a');
    await old.saveTurn('c', 'five', 'a');
    expect(await questions('c')).toEqual(['one', 'two', 'three', 'four', 'five']);
    const { body } = await place.call('GET', '/v1/tenants/acme/conversations');
    expect(body.data[0]).toMatchObject({ conversation_id: 'c', turns: 5 });
  });

  it('loses no turn of ours that it did not know of when it wrote', async () => {
    await say(place, 'c', 'one');
    const known = await old.read('c');
    await say(place, 'c', 'two');
    await old.saveTurn('c', 'three', 'a', known);
    expect(await questions('c')).toEqual(['one', 'two', 'three']);
  });

  it('writes the item without our attributes, and they are kept', async () => {
    await say(place, 'c', 'one', { user_id: 'ann' });
    await place.call('PATCH', conversationPath('c'), { send: { title: 'Weekly' } });
    await old.saveTurn('c', 'two', 'a');
    const { body } = await place.call('GET', conversationPath('c'), { as: 'acme~ann' });
    expect(body).toMatchObject({ title: 'Weekly', user_id: 'ann', channel: 'dashboard', turns: 2 });
  });

  it('may write messages as long as it likes', async () => {
    await old.saveTurn('c', 'x'.repeat(150_000), 'y'.repeat(200_000));
    await old.saveTurn('c', 'short', 'z');
    await say(place, 'c', 'hello');
    expect((await questions('c')).map(text => text.length)).toEqual([150_000, 5, 5]);
  });

  it('may leave out older messages', async () => {
    for (const text of ['one', 'two', 'three']) await say(place, 'c', text);
    await old.saveTurn('c', 'four', 'a', (await old.read('c')).slice(-2));
    expect(await questions('c')).toEqual(['one', 'two', 'three', 'four']);
  });

  it('clears, and what it begins afterwards is new', async () => {
    await say(place, 'c', 'my secret is 777');
    await old.clear('c');
    expect((await place.call('GET', conversationPath('c'))).status).toBe(404);
    await old.saveTurn('c', 'again', 'a');
    expect(await questions('c')).toEqual(['again']);
    await say(place, 'c', 'hello');
    expect(await questions('c')).toEqual(['again', 'hello']);
    await settle(place);
    expect(await isKept(place, '777')).toBe(false);
  });

  it('clears, and our next turn is the first', async () => {
    await say(place, 'c', 'one');
    await old.clear('c');
    expect((await say(place, 'c', 'hello')).body.seq).toBe(1);
    expect(await questions('c')).toEqual(['hello']);
  });

  it('gets wrong what it likes: what can be read of it is', async () => {
    await say(place, 'c', 'one');
    await old.write('c', [
      ...(await old.read('c')),
      { role: 'alien', content: 'x' },
      7 as never,
      null as never,
    ]);
    await say(place, 'c', 'two');
    expect(await questions('c')).toEqual(['one', 'two']);
    await place.target.client.put({
      TableName: 'conversations',
      Item: { pk: 'acme', sk: 'odd', messages: '{' },
    });
    expect((await place.call('GET', conversationPath('odd'))).body).toMatchObject({ turns: 0, messages: [] });
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

describe('a lease that was taken for nothing', () => {
  it('is given back by a reader whose work another one has done', async () => {
    const place = await openPlace();
    const { clock, target } = place;
    const act = () => place.call('GET', conversationPath('c'));
    const late = openProcess(target, { clock, client: interrupted(target.client, takesLease, act) });
    await oldClient(place).saveTurn('c', 'q1', 'a1');
    expect((await late.call('GET', conversationPath('c'))).body.turns).toBe(1);
    place.tenants.get('acme')!.settings = { busy: 'refuse' };
    expect(await say(place, 'c', 'hello')).toMatchObject({ status: 200, body: { seq: 2 } });
    await target.close();
  });

  it('is given back by a reader whose work fails', async () => {
    const place = await openPlace();
    const { clock, target } = place;
    const fail = async () => Promise.reject(new Error('the network is gone'));
    const failing = openProcess(target, { clock, client: { ...target.client, transactWrite: fail } });
    await oldClient(place).saveTurn('c', 'q1', 'a1');
    expect((await failing.call('GET', conversationPath('c'))).status).toBe(500);
    place.tenants.get('acme')!.settings = { busy: 'refuse' };
    expect((await say(place, 'c', 'hello')).status).toBe(200);
    await target.close();
  });

  it('leaves no message behind that came while it was held', async () => {
    const place = await openPlace();
    const { clock, target } = place;
    await say(place, 'c', 'one');
    let answer: ReturnType<typeof say> | undefined;
    const act = async () => {
      answer = say(place, 'c', 'two');
      await until(async () => (await everyItem(target)).some(({ status }) => status === 'waiting'));
    };
    const cleaning = openProcess(target, { clock, client: interrupted(target.client, endsCleaning, act) });
    await place.call('DELETE', `${conversationPath('c')}/messages`);
    await settle(cleaning);
    clock.advance(1_000); // the sender looks again
    expect(await answer).toMatchObject({ status: 200, body: { seq: 1 } });
    await target.close();
  });
});

describe('a program that knows only the document, while an answer is made', () => {
  const open = async (during: (old: ReturnType<typeof oldClient>) => Promise<unknown>) => {
    const skill = defineSkill({
      name: 'slow',
      description: 'Lets somebody else write.',
      triggers: ['slow'],
      parameters: z.strictObject({}),
      async run() {
        await during(oldClient(place));
        return { data: {}, text: 'Done.' };
      },
    });
    const place = await openPlace(undefined, { skills: [skill] });
    place.tenants.get('acme')!.settings = { enabled_skills: ['slow'] };
    return place;
  };
  const questions = async (place: Place) =>
    ((await place.call('GET', `${conversationPath('c')}/messages`)).body.data as { messages: Plain[] }[]).map(
      turn => turn.messages[0]!.content,
    );

  it('has its turn kept, before ours', async () => {
    const place = await open(old => old.saveTurn('c', 'theirs', 'a'));
    await say(place, 'c', 'hello');
    expect((await say(place, 'c', 'slow')).body.seq).toBe(3);
    expect(await questions(place)).toEqual(['hello', 'theirs', 'slow']);
    await place.target.close();
  });

  it('clears, and our answer does not bring it back', async () => {
    const place = await open(old => old.clear('c'));
    await say(place, 'c', 'hello');
    expect((await say(place, 'c', 'slow')).body.code).toBe('agents.conversation_cleared');
    expect((await place.call('GET', conversationPath('c'))).status).toBe(404);
    await place.target.close();
  });
});
