import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createModels } from '../src/index.ts';
import {
  conversationPath,
  everyItem,
  type Fixture,
  openFixture,
  openProcess,
  say,
  settle,
} from './agents-fixture.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

// A server of embeddings for which words of one group mean the same.
const meanings = [/\b(?:puppy|dog|rex)\b/gi, /\b(?:tea|drink|beverage)\b/gi, /\b(?:oslo|city|lives?)\b/gi];
async function openEmbeddings() {
  const asked: string[] = [];
  const served = { isDown: false };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { input } = JSON.parse(Buffer.concat(chunks).toString()) as { input: string[] };
    asked.push(...input);
    response.writeHead(served.isDown ? 400 : 200, { 'Content-Type': 'application/json' });
    if (served.isDown) return response.end(JSON.stringify({ error: { message: `no: ${input}` } }));
    const embed = (text: string) => meanings.map(pattern => 0.01 + (text.match(pattern)?.length ?? 0));
    const data = input.map((text, index) => ({ object: 'embedding', index, embedding: embed(text) }));
    response.end(JSON.stringify({ object: 'list', data, usage: { prompt_tokens: 5 * input.length } }));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => server.close().closeAllConnections());
  return { asked, served, baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` };
}

async function open(hasEmbeddings = true) {
  const { asked, served, baseURL } = await openEmbeddings();
  const modelsWith = (model: string) =>
    createModels({
      openaiCompatible: { baseURL },
      prices: { meaning: { input: 1, output: 0 } },
      ...(hasEmbeddings && { embedding: { provider: 'openai-compatible', model } }),
    });
  const fixture = await openFixture(undefined, { models: modelsWith('meaning') });
  closers.push(fixture.target.close);
  fixture.tenants.get('acme')!.settings = { enabled_skills: ['search_history', 'remember', 'forget'] };
  return { fixture, asked, served, modelsWith };
}

const sayAs = (fixture: Fixture, text: string, id = 'c', user_id = 'ann') =>
  say(fixture, id, text, { user_id });
const search = async (fixture: Fixture, query: string, user_id = 'ann'): Promise<string> =>
  (await sayAs(fixture, `search my history for ${query}`, `search-${user_id}`, user_id)).body.reply.content;
const fallQuiet = async (fixture: Fixture) => {
  await fixture.clock.advance(11 * 60_000);
  await settle(fixture);
};
const vectors = async ({ target }: Fixture) =>
  (await everyItem(target)).filter(({ pk }) => String(pk).startsWith('VECTORS#'));

describe('a search', () => {
  it('finds what the caller said by meaning, and nothing of other users', async () => {
    const { fixture } = await open();
    await sayAs(fixture, 'My puppy is called Rex', 'c1');
    await sayAs(fixture, 'What is the weather?', 'c2');
    await sayAs(fixture, 'Bob has a puppy as well', 'c3', 'bob');
    await fallQuiet(fixture);
    expect((await search(fixture, 'dog')).split('\n')[0]).toContain('My puppy is called Rex');
    expect(await search(fixture, 'dog')).not.toContain('Bob');
    expect((await search(fixture, 'dog', 'bob')).split('\n')[0]).toContain('Bob has a puppy');
    const usage = await fixture.call('GET', '/v1/tenants/acme/agent-usage');
    expect(usage.body.total.cost_usd).toBeGreaterThan(0);
  });

  it('quotes whole characters', async () => {
    const { fixture } = await open(false);
    const stars = '💥'.repeat(60);
    await sayAs(fixture, `x${stars} ferry ${stars}`, 'c1');
    const [line = ''] = (await search(fixture, 'ferry')).split('\n');
    expect(line).toContain('💥 ferry 💥');
    expect(line).not.toMatch(/\p{Cs}|\ufffd/u);
  });

  it('ranks by words without an embedding model, rare words before common ones', async () => {
    const { fixture, asked } = await open(false);
    await sayAs(fixture, 'the plan for the week', 'c1');
    await sayAs(fixture, 'the ferry to Oslo', 'c2');
    await sayAs(fixture, 'remember that I like the ferry', 'c3');
    const lines = (await search(fixture, 'the Oslo ferry')).split('\n');
    expect(lines[0]).toContain('the ferry to Oslo');
    expect(lines.some(line => line.includes('fact: I like the ferry'))).toBe(true);
    expect(asked).toEqual([]);
  });

  it('searches a bounded history', async () => {
    const { fixture } = await open(false);
    const upload = async (id: string, first: string) => {
      await fixture.clock.advance(1_000);
      const words = (i: number) => Array.from({ length: 4_000 }, (_, n) => `w${i}${n}`).join(' ');
      const messages = Array.from({ length: 60 }, (_, i) => ({
        role: i % 2 === 0 ? 'user' : 'assistant',
        content: i === 0 ? first : words(i),
      }));
      const send = { conversation_id: id, user_id: 'ann', messages };
      const { status } = await fixture.call('POST', '/v1/tenants/acme/conversation-imports', { send });
      expect(status).toBe(201);
    };
    await upload('c1', 'the ferry to Oslo');
    await upload('c2', 'the ferry to Bergen');
    await sayAs(fixture, 'the ferry to Bodø', 'c3');
    const found = await search(fixture, 'ferry');
    expect(found).toContain('Bodø');
    expect(found).not.toContain('Oslo');
  });

  it('searches by words when the embedding model is down or the budget is spent', async () => {
    const { fixture, served } = await open();
    await sayAs(fixture, 'My puppy is called Rex');
    await fallQuiet(fixture);
    served.isDown = true;
    expect(await search(fixture, 'puppy')).toContain('My puppy is called Rex');
    expect(await search(fixture, 'beverage')).not.toContain('Rex');
    served.isDown = false;
    Object.assign(fixture.tenants.get('acme')!.settings, { spend_per_day_usd: 0 });
    expect(await search(fixture, 'puppy')).toContain('My puppy is called Rex');
  });

  it('logs no content when the embedding model fails', async () => {
    const { fixture, served } = await open();
    served.isDown = true;
    await sayAs(fixture, 'My secret is a blue door');
    await fallQuiet(fixture);
    await search(fixture, 'green keys');
    const lines = fixture.lines.join();
    expect(lines).toContain('turns were not embedded');
    expect(lines).toContain('a search was made by words only');
    expect(lines).not.toMatch(/blue door|green keys/);
  });

  it('compares vectors of one model only', async () => {
    const { fixture, modelsWith } = await open();
    await sayAs(fixture, 'My puppy is called Rex');
    await fallQuiet(fixture);
    const other = openProcess(fixture.target, { clock: fixture.clock, models: modelsWith('another') });
    Object.assign(other.tenants.get('acme')!, fixture.tenants.get('acme'));
    expect(await search(other, 'dog')).not.toContain('Rex');
  });

  it('finds the latest messages, however long the history is', async () => {
    const { fixture } = await open();
    await sayAs(fixture, 'What is the weather?', 'a'); // before the others, by its key
    await fallQuiet(fixture);
    const [old] = await vectors(fixture);
    const Item = (i: number) => ({
      ...old,
      sk: String(old!.sk).replace(/\d+$/, String(i).padStart(10, '0')),
      seq: i,
    });
    for (let from = 2; from < 5_010; from += 25) {
      const puts = Array.from({ length: 25 }, (_, i) => ({ PutRequest: { Item: Item(from + i) } }));
      await fixture.target.client.batchWrite({ RequestItems: { conversations: puts } });
    }
    await sayAs(fixture, 'My puppy is called Rex', 'b');
    await fallQuiet(fixture);
    expect((await search(fixture, 'dog')).split('\n')[0]).toContain('My puppy is called Rex');
  });

  it('leaves no vector of deleted, forgotten or declined content', async () => {
    const { fixture } = await open();
    await sayAs(fixture, 'My puppy is called Rex', 'c1');
    await sayAs(fixture, 'I drink tea', 'c2');
    await fallQuiet(fixture);
    expect(await vectors(fixture)).toHaveLength(2);
    await fixture.call('DELETE', conversationPath('c1'));
    await settle(fixture);
    expect((await vectors(fixture)).map(({ sk }) => String(sk).split('#')[1])).toEqual(['c2']);
    await fixture.call('PATCH', '/v1/tenants/acme/users/ann/memory-settings', {
      send: { is_declined: true },
    });
    expect(await vectors(fixture)).toEqual([]);
  });
});
