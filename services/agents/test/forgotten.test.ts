import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createModels } from '../src/index.ts';
import { everyItem, type Fixture, openFixture, say, settle } from './agents-fixture.ts';
import { openStub } from './openai-stub.ts';
import { fallQuiet, openSummaries, sayAs as sayTo } from './summaries-fixture.ts';

// What is forgotten is found by nothing.

let fixture: Fixture;
beforeEach(async () => {
  fixture = await openFixture();
  fixture.tenants.get('acme')!.settings = { enabled_skills: ['search_history', 'remember', 'forget'] };
});
afterEach(() => fixture.target.close());

const memory = '/v1/tenants/acme/users/ann/memory';
const sayAs = (text: string, id = 'c', user_id = 'ann') => say(fixture, id, text, { user_id });
const search = async (query: string, user_id = 'ann'): Promise<string> =>
  (await sayAs(`search my history for ${query}`, `search-${user_id}`, user_id)).body.reply.content;
const later = () => fixture.clock.advance(1_000);

describe('what a user has had forgotten', () => {
  it('is not found where it was said, whether or not it was a fact', async () => {
    await sayAs('Remember that my dog is called Rex', 'c1');
    await sayAs('Rex the dog barks at the postman', 'c2');
    await sayAs('The postman comes at noon', 'c2');
    expect(await search('dog')).toContain('Rex');
    await later();
    expect((await sayAs('Forget my dog Rex', 'c3')).body.reply.content).toContain('Forgotten');
    await sayAs('Forget dog', 'c3');
    expect(await search('dog')).toBe('Nothing was found.');
    expect(await search('Rex')).toBe('Nothing was found.');
    expect(await search('postman')).toContain('at noon');
  });

  it('is found again if it is said again', async () => {
    await sayAs('My dog is called Rex', 'c1');
    await sayAs('Forget dog', 'c1');
    expect(await search('dog')).toBe('Nothing was found.');
    await later();
    await sayAs('Another dog is called Max', 'c1');
    expect(await search('dog')).toContain('Max');
    expect(await search('dog')).not.toContain('Rex');
  });

  it('is hidden from that user only', async () => {
    await sayAs('My dog is called Rex', 'c1');
    await sayAs('My dog is called Max', 'b1', 'bob');
    await sayAs('Forget dog', 'c1');
    expect(await search('dog', 'bob')).toContain('Max');
  });

  it('through the API is not found in the turn from which it was learnt', async () => {
    await sayAs('Remember that my dog is called Rex', 'c1');
    await later();
    expect((await fixture.call('DELETE', `${memory}/c1`)).status).toBe(204);
    expect(await search('Rex')).toBe('Nothing was found.');
  });

  it('is in no table as it was said, except where it was said', async () => {
    await sayAs('Forget my secret blue door', 'c1');
    const kept = (await everyItem(fixture.target, 'tenants')).map(item => JSON.stringify(item)).join();
    expect(kept).toContain('FORGOTTEN');
    expect(kept).not.toContain('blue');
  });

  it('is not learnt again from the same conversation', async () => {
    const stub = await openStub((_, stream) => {
      stream.text('{"summary": "A talk.", "about": "", "facts": []}');
      stream.finish();
    });
    const models = createModels({ openaiCompatible: { baseURL: stub.baseURL } });
    const summarised = await openFixture(undefined, { models });
    summarised.tenants.get('acme')!.settings = {
      ai_provider: 'openai-compatible',
      ai_model: 'stub',
      enabled_skills: ['forget'],
    };
    await say(summarised, 'c1', 'What should my dog Rex eat?', { user_id: 'ann' });
    await say(summarised, 'c1', 'What should my cat eat?', { user_id: 'ann' });
    await say(summarised, 'c1', 'Forget dog', { user_id: 'ann' });
    stub.asked.splice(0);
    await summarised.clock.advance(11 * 60_000);
    await settle(summarised);
    expect(stub.asked).toHaveLength(1);
    expect(JSON.stringify(stub.asked)).toContain('my cat');
    expect(JSON.stringify(stub.asked)).not.toMatch(/dog|Rex/);
    await stub.close();
    await summarised.target.close();
  });

  it('is not found in the turn from which it was learnt, in whichever words', async () => {
    const facts = [{ fact: 'Owns a pet.', turn: 1 }];
    const { fixture, memories } = await openSummaries([{ summary: 'A talk.', facts }]);
    await sayTo(fixture, 'My dog is called Rex', 'c1');
    await fallQuiet(fixture);
    expect(await memories()).toMatchObject([{ key_facts: [{ fact: 'Owns a pet.', seq: 1 }] }]);
    fixture.tenants.get('acme')!.settings = { enabled_skills: ['search_history'] };
    const found = async () =>
      (await sayTo(fixture, 'search my history for dog', 'search')).body.reply.content as string;
    expect(await found()).toContain('Rex');
    await fixture.clock.advance(1_000);
    expect((await fixture.call('DELETE', `${memory}/c1`)).status).toBe(204);
    expect(await found()).toBe('Nothing was found.');
  });

  it('is not learnt by a summary that is being made meanwhile', async () => {
    const { fixture, given, memories, onSummary } = await openSummaries([
      { summary: 'They talked about the dog Rex.', facts: [{ fact: 'Has the dog Rex.', turn: 1 }] },
      { summary: 'They talked about the cat.', facts: [] },
    ]);
    await sayTo(fixture, 'My dog is called Rex', 'c1');
    await sayTo(fixture, 'My cat is called Tom', 'c1');
    let isForgotten = false;
    onSummary(async () => {
      if (isForgotten) return;
      isForgotten = true;
      await sayTo(fixture, 'Forget dog', 'c2');
    });
    for (let n = 0; n < 3; n++) await fallQuiet(fixture);
    expect(isForgotten).toBe(true);
    expect(JSON.stringify(await memories())).not.toMatch(/dog|Rex/);
    expect(JSON.stringify(await memories())).toContain('cat');
    expect(JSON.stringify(given.slice(1))).not.toMatch(/dog|Rex/);
  });

  it('is erased with the user', async () => {
    await sayAs('Forget dog', 'c1');
    while ((await fixture.agents.eraser.eraseUser('acme', 'ann')) === 'more');
    expect(await everyItem(fixture.target, 'tenants')).toEqual([]);
  });
});

describe('the history of a user who opted out of memory', () => {
  it('is not searched', async () => {
    await sayAs('My dog is called Rex', 'c1');
    expect(await search('dog')).toContain('Rex');
    const path = '/v1/tenants/acme/users/ann/memory-settings';
    await fixture.call('PATCH', path, { send: { is_declined: true } });
    expect(await search('dog')).toBe('Nothing was found.');
    await fixture.call('PATCH', path, { send: { is_declined: false } });
    expect(await search('dog')).toContain('Rex');
  });
});
