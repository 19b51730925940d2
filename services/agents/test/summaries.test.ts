import { describe, expect, it } from 'vitest';
import { conversationPath, everyItem, isKept, openProcess, settle, until } from './agents-fixture.ts';
import { busyWhen, suspendable } from './faults.ts';
import { fallQuiet, openSummaries as open, path, sayAs } from './summaries-fixture.ts';

type Fact = { fact_id: string; fact: string };

describe('an idle conversation', () => {
  it('is summarised once, with facts that name their source', async () => {
    const { fixture, given, memories, about } = await open([
      {
        summary: 'Ann plans a trip.',
        about: 'Ann lives in Oslo.',
        facts: [
          { fact: 'Ann lives in Oslo.', turn: 2, replaces: [] },
          { fact: 'Made up.', turn: 99, replaces: [] },
        ],
      },
    ]);
    await sayAs(fixture, 'I plan a trip');
    await sayAs(fixture, 'I live in Oslo');
    await settle(fixture);
    expect(await memories()).toEqual([]);
    await fallQuiet(fixture);
    expect(await memories()).toMatchObject([
      {
        session_id: 'c',
        summary: 'Ann plans a trip.',
        key_facts: [{ fact: 'Ann lives in Oslo.', seq: 2, source: 'conversation', supersedes: null }],
      },
    ]);
    expect(await about()).toBe('Ann lives in Oslo.');
    expect(given[0].turns.map((one: { turn: number }) => one.turn)).toEqual([1, 2]);
    await fallQuiet(fixture);
    expect(given).toHaveLength(1);
    const usage = await fixture.call('GET', '/v1/tenants/acme/agent-usage');
    expect(usage.body.total).toMatchObject({ messages: 2, model_turns: 3 });
  });

  it('replaces the facts that it contradicts, wherever they were learnt, and repeats none', async () => {
    const { fixture, given, memories } = await open([
      { summary: 'Oslo.', facts: [{ fact: 'Lives in Oslo.', turn: 1 }] },
      {
        summary: 'Bergen.',
        facts: [
          { fact: 'Lives in Bergen.', turn: 1, replaces: ['f1'] },
          { fact: 'lives in OSLO', turn: 1 },
          { fact: 'lives in Bergen', turn: 1 },
        ],
      },
    ]);
    await sayAs(fixture, 'I live in Oslo', 'c1');
    await fallQuiet(fixture);
    await sayAs(fixture, 'I moved to Bergen', 'c2');
    await fallQuiet(fixture);
    expect(given[1].known_facts).toEqual([{ id: 'f1', fact: 'Lives in Oslo.' }]);
    expect(await memories()).toMatchObject([
      { session_id: 'c1', summary: 'Oslo.', key_facts: [] },
      { session_id: 'c2', key_facts: [{ fact: 'Lives in Bergen.', supersedes: 'Lives in Oslo.' }] },
    ]);
    expect((await memories())[1].key_facts).toHaveLength(1);
  });

  it('is summarised before it leaves the window, and the next answer gets the summary', async () => {
    const { fixture, stub, settings, given } = await open([{ summary: 'It began with tea.' }]);
    settings.max_conversation_history = 4;
    for (const text of ['tea', 'milk', 'sugar']) await sayAs(fixture, `Let us talk of ${text}`);
    await settle(fixture);
    expect(given).toHaveLength(1);
    await sayAs(fixture, 'And now?');
    expect(stub.asked.at(-1).messages[0].content).toContain(
      'Earlier in this conversation: It began with tea.',
    );
  });

  it('is summarised before it leaves the window by its length', async () => {
    const { fixture, settings, given } = await open([{ summary: 'It began with tea.' }]);
    settings.max_context_tokens = 1_000;
    const long = (text: string) => `Let us talk of ${text}. ${'x'.repeat(1_600)}`;
    for (const text of ['tea', 'milk']) await sayAs(fixture, long(text));
    await settle(fixture);
    expect(given).toHaveLength(0);
    await sayAs(fixture, long('sugar'));
    await settle(fixture);
    expect(given).toHaveLength(1);
  });

  it.each([true, false])(
    'is summarised from its beginning, in parts if it is long (model: %s)',
    async isThere => {
      const { fixture, given, memories, settings } = await open(
        [{ summary: 'The first part.' }, { summary: 'Both parts.' }],
        {},
        isThere,
      );
      settings.max_context_tokens = 200_000;
      const turns = Array.from({ length: 40 }, (_, i) => i + 1);
      for (const turn of turns) await sayAs(fixture, `What about ${turn}? ${'x'.repeat(1_900)}`);
      await fallQuiet(fixture);
      const [{ summary }] = await memories();
      if (!isThere) expect(summary).toContain('What about 40?');
      else {
        const parts = given.map(part => part.turns.map(({ turn }: { turn: number }) => turn));
        expect(parts).toHaveLength(2);
        expect(parts.flat()).toEqual(turns);
        expect([given[1].earlier_summary, summary]).toEqual(['The first part.', 'Both parts.']);
      }
      expect((await everyItem(fixture.target)).filter(({ sk }) => sk === 'MEMORYJOB')).toEqual([]);
    },
  );

  it('is not summarised for a user who opted out, even during the model’s call', async () => {
    const { fixture, given, memories, about, onSummary } = await open([
      { summary: 'Oslo.', about: 'Oslo.', facts: [{ fact: 'Lives in Oslo.', turn: 1 }] },
    ]);
    const decline = (is_declined: boolean) =>
      fixture.call('PATCH', `${path}-settings`, { send: { is_declined } });
    await sayAs(fixture, 'I live in Oslo');
    onSummary(async () => void (await decline(true)));
    await fallQuiet(fixture);
    await fallQuiet(fixture);
    expect(given).toHaveLength(1);
    expect([await memories(), await about()]).toEqual([[], null]);
    await sayAs(fixture, 'I really live in Oslo');
    await fallQuiet(fixture);
    expect(given).toHaveLength(1);
    await decline(false); // what was said before stays unremembered
    await fallQuiet(fixture);
    expect(given).toHaveLength(1);
  });

  it('is not summarised if the tenant allows that only on request, nor for greetings', async () => {
    const { fixture, given, settings } = await open([{ summary: 'x' }]);
    await sayAs(fixture, 'Hello!', 'greeting');
    settings.memory = 'on_request';
    await sayAs(fixture, 'I live in Oslo');
    await fallQuiet(fixture);
    expect(given).toHaveLength(0);
  });

  it('keeps what the user wrote about themselves', async () => {
    const { fixture, about } = await open([{ summary: 'Oslo.', about: 'Lives in Oslo.' }]);
    const write = (memory_summary: string | null) =>
      fixture.call('PATCH', `${path}-settings`, { send: { memory_summary } });
    await write('Call me Ann.');
    await sayAs(fixture, 'I live in Oslo');
    await fallQuiet(fixture);
    expect(await about()).toBe('Call me Ann.');
    await write(null);
    await sayAs(fixture, 'Still in Oslo');
    await fallQuiet(fixture);
    expect(await about()).toBe('Lives in Oslo.');
  });

  it('keeps what the user writes about themselves during the model’s call', async () => {
    const { fixture, about, onSummary } = await open([{ summary: 'Oslo.', about: 'Lives in Oslo.' }]);
    const send = { memory_summary: 'Call me Ann.' };
    onSummary(async () => void (await fixture.call('PATCH', `${path}-settings`, { send })));
    await sayAs(fixture, 'I live in Oslo');
    await fallQuiet(fixture);
    expect(await about()).toBe('Call me Ann.');
  });

  it('is not remembered if it is deleted, or cleared, during the model’s call', async () => {
    for (const path of [conversationPath('c'), `${conversationPath('c')}/messages`]) {
      const { fixture, memories, onSummary } = await open([{ summary: 'Oslo.' }]);
      onSummary(async () => void (await fixture.call('DELETE', path)));
      await sayAs(fixture, 'I live in Oslo');
      await fallQuiet(fixture);
      await fallQuiet(fixture);
      expect(await memories()).toEqual([]);
    }
  });

  it('is summarised by one of the processes that find it', async () => {
    const { fixture, given, memories, models, onSummary } = await open([{ summary: 'Oslo.' }]);
    const { client, suspendBefore, isSuspended, resume } = suspendable(fixture.target.client);
    const late = openProcess(fixture.target, { clock: fixture.clock, models, client });
    Object.assign(late.tenants.get('acme')!, fixture.tenants.get('acme'));
    let finish = () => {};
    const isFinished = new Promise<void>(resolve => {
      finish = resolve;
    });
    onSummary(() => isFinished);
    await sayAs(fixture, 'I live in Oslo');
    await fixture.clock.advance(11 * 60_000);
    suspendBefore((name, input) => {
      const text = JSON.stringify(input);
      return name === 'update' && text.includes('MEMORYJOB') && text.includes('"fence"');
    });
    const looking = settle(late);
    await until(isSuspended);
    const working = settle(fixture);
    await until(() => given.length === 1);
    resume();
    finish();
    await Promise.all([looking, working]);
    expect(given).toHaveLength(1);
    expect(await memories()).toMatchObject([{ summary: 'Oslo.' }]);
  });

  it('has its user’s own words as a summary without a model or a budget', async () => {
    const { fixture, memories, about } = await open([], {}, false);
    await sayAs(fixture, 'Where is Oslo?');
    await sayAs(fixture, 'And where is Bergen?');
    await fallQuiet(fixture);
    const summary = 'Said: Where is Oslo?\nSaid: And where is Bergen?';
    expect(await memories()).toMatchObject([{ summary, key_facts: [] }]);
    expect(await about()).toBe(summary);

    const prices = { stub: { input: 1000, output: 1000 } };
    const poor = await open([{ summary: 'never asked' }], { prices });
    await sayAs(poor.fixture, 'Where is Oslo?');
    poor.settings.spend_per_day_usd = 0.000001;
    await fallQuiet(poor.fixture);
    expect(poor.given).toHaveLength(0);
    expect(await poor.memories()).toMatchObject([{ summary: 'Said: Where is Oslo?' }]);
  });

  it('has not failed to be summarised if the store was too busy', async () => {
    const { fixture, memories, models } = await open([{ summary: 'Oslo.' }]);
    let busy = 1;
    const client = busyWhen(
      fixture.target.client,
      (_, input) => JSON.stringify(input).includes('MEMORY#ann#c') && busy-- > 0,
    );
    const process = openProcess(fixture.target, { clock: fixture.clock, models, client });
    Object.assign(process.tenants.get('acme')!, fixture.tenants.get('acme'));
    await sayAs(process, 'I live in Oslo');
    await fallQuiet(process);
    const [job] = (await everyItem(fixture.target)).filter(({ sk }) => sk === 'MEMORYJOB');
    expect(job).toMatchObject({ attempts: 0 });
    await fallQuiet(process);
    expect(await memories()).toMatchObject([{ summary: 'Oslo.' }]);
  });

  it('has not failed to be summarised if its server stopped, which does not wait for the model', async () => {
    const { fixture, given, memories, onSummary } = await open([{ summary: 'Oslo.' }]);
    await sayAs(fixture, 'I live in Oslo');
    for (let stops = 0; stops < 4; stops++) {
      onSummary(() => new Promise(() => {})); // it is not finished
      const stopping = new AbortController();
      await fixture.clock.advance(11 * 60_000);
      const running = fixture.agents.workers.map(worker => worker.run(stopping.signal));
      await until(() => given.length === stops + 1);
      stopping.abort();
      await Promise.all(running);
      const [job] = (await everyItem(fixture.target)).filter(({ sk }) => sk === 'MEMORYJOB');
      expect(job).toMatchObject({ attempts: 0 });
      expect(job).not.toHaveProperty('fence');
    }
    onSummary(async () => {});
    await fallQuiet(fixture);
    expect(await memories()).toMatchObject([{ summary: 'Oslo.' }]);
  });

  it('is remembered once if its process dies after the model has answered', async () => {
    const { fixture, given, memories, models } = await open([
      { summary: 'Oslo.', facts: [{ fact: 'Lives in Oslo.', turn: 1 }] },
    ]);
    const { client } = fixture.target;
    let isDead = false;
    const dying = openProcess(fixture.target, {
      clock: fixture.clock,
      models,
      client: {
        ...client,
        transactWrite: async input => {
          isDead ||= JSON.stringify(input).includes('MEMORY#ann#c');
          if (isDead) throw new Error('killed');
          return client.transactWrite(input);
        },
        update: async input => {
          if (isDead) throw new Error('killed');
          return client.update(input);
        },
      },
    });
    Object.assign(dying.tenants.get('acme')!, fixture.tenants.get('acme'));
    await sayAs(dying, 'I live in Oslo');
    await fixture.clock.advance(11 * 60_000);
    for (let round = 0; round < 3; round++) await dying.agents.runDue().catch(() => {});
    expect([isDead, await memories()]).toEqual([true, []]);
    await settle(fixture); // still leased
    expect(given).toHaveLength(1);
    await fallQuiet(fixture);
    expect(given).toHaveLength(2);
    expect(await memories()).toMatchObject([{ key_facts: [{ fact: 'Lives in Oslo.' }] }]);
    expect((await everyItem(fixture.target)).filter(({ sk }) => sk === 'MEMORYJOB')).toEqual([]);
  });
});

describe('learnt facts', () => {
  const learnt = { summary: 'Ann lives in Oslo. She likes tea.', about: 'Lives in Oslo.' };

  it('are deleted with the conversation; facts the user asked to remember stay', async () => {
    const { fixture, memories, about } = await open([
      { ...learnt, facts: [{ fact: 'Lives in Oslo.', turn: 1 }] },
    ]);
    await sayAs(fixture, 'I live in Oslo');
    await fallQuiet(fixture);
    await sayAs(fixture, 'Remember that I like tea');
    await fixture.call('DELETE', conversationPath('c'));
    await settle(fixture);
    expect(await memories()).toMatchObject([{ summary: null, key_facts: [{ fact: 'I like tea', seq: 2 }] }]);
    expect(await about()).toBeNull();
    expect(await isKept(fixture, 'Oslo')).toBe(false);
  });

  it('are deleted even if the conversation restarts before the cleanup', async () => {
    const { fixture, memories, about } = await open([
      { ...learnt, facts: [{ fact: 'Lives in Oslo.', turn: 1 }] },
    ]);
    await sayAs(fixture, 'I live in Oslo');
    await fallQuiet(fixture);
    await fixture.call('DELETE', conversationPath('c'));
    await sayAs(fixture, 'hello');
    await settle(fixture);
    expect([await memories(), await about()]).toEqual([[], null]);
    expect(await isKept(fixture, 'Oslo')).toBe(false);
  });

  it('are removed from summaries, too', async () => {
    const { fixture, memories, about } = await open([learnt]);
    await sayAs(fixture, 'I live in Oslo and like tea');
    await fallQuiet(fixture);
    expect(await about()).toBe('Lives in Oslo.');
    await sayAs(fixture, 'forget Oslo');
    expect(await memories()).toMatchObject([{ summary: 'She likes tea.' }]);
    expect(await about()).toBe('She likes tea.');
    await fixture.call('DELETE', `${path}/c`);
    expect([await memories(), await about()]).toEqual([[], null]);
    await fallQuiet(fixture);
    expect(await memories()).toEqual([]);
  });

  it('replace earlier learnt facts, and none that the user wrote', async () => {
    const learn = (fact: string, turn: number) => ({ summary: fact, facts: [{ fact, turn }] });
    const { fixture, memories } = await open([learn('Lives in Oslo.', 1), learn('Likes tea.', 2)]);
    await sayAs(fixture, 'I live in Oslo');
    await fallQuiet(fixture);
    const written = Array.from({ length: 49 }, (_, i) => ({ fact: `Wrote ${i}.` }));
    const [{ key_facts }] = await memories();
    const known = key_facts.map(({ fact_id, fact }: Fact) => ({ fact_id, fact }));
    const send = { key_facts: [...written, ...known] };
    expect((await fixture.call('PATCH', `${path}/c`, { send })).status).toBe(200);
    await sayAs(fixture, 'I like tea');
    await fallQuiet(fixture);
    const facts = (await memories())[0].key_facts.map(({ fact }: Fact) => fact);
    expect(facts).toEqual([...written.map(({ fact }) => fact), 'Likes tea.']);
  });

  it('make room for facts the user asks to remember', async () => {
    const turns = [1, 2, 3, 4, 5];
    const learnIn = (turn: number) =>
      Array.from({ length: 10 }, (_, i) => ({ fact: `Learnt ${i} in turn ${turn}.`, turn }));
    const { fixture, memories } = await open(turns.map(turn => ({ summary: 'x', facts: learnIn(turn) })));
    for (const turn of turns) {
      await sayAs(fixture, `I say something for the ${turn}. time`);
      await fallQuiet(fixture);
    }
    expect((await memories())[0].key_facts).toHaveLength(50);
    expect((await sayAs(fixture, 'remember that I like tea')).body.reply.content).toContain('I like tea');
    const known = (await memories())[0].key_facts.map(({ fact }: Fact) => fact);
    expect([known.length, known[0], known.at(-1)]).toEqual([50, 'Learnt 1 in turn 1.', 'I like tea']);
  });

  it('are stored once, however often the user asks for it', async () => {
    const { fixture, memories } = await open([], {}, false);
    await sayAs(fixture, 'remember that I like tea', 'c1');
    await sayAs(fixture, 'remember that I like TEA!', 'c2');
    expect(await memories()).toMatchObject([{ session_id: 'c1', key_facts: [{ fact: 'I like tea' }] }]);
  });
});
