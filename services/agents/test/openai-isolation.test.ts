import { describe, expect, it } from 'vitest';
import { conversationPath, until } from './agents-fixture.ts';
import { clientOf, failure, openAgent, question, say } from './openai-fixture.ts';

// What one caller of OpenAI's protocols does to another one, and one request to another: nothing.

describe('two callers', () => {
  it('have a conversation each, also with the same Idempotency-Key', async () => {
    const { fixture, stub } = await openAgent([say('You are Ann.'), say('You are Bob.')]);
    const ask = (as: string) =>
      clientOf(fixture, as).chat.completions.create(
        { model: 'default', messages: [question('Tell me, who am I?')] },
        { headers: { 'Idempotency-Key': 'k1' } },
      );
    const [ann, bob] = [await ask('acme~ann'), await ask('acme~bob')];
    expect(ann.choices[0]!.message.content).toBe('You are Ann.');
    expect(bob.choices[0]!.message.content).toBe('You are Bob.');
    expect(JSON.stringify(stub.asked[1].messages)).not.toContain('Ann');
  });

  it('cannot refer to items of each other, nor continue or stop their responses', async () => {
    const { fixture, stub } = await openAgent([say('Your secret is safe.'), say('x')]);
    const [ann, bob] = [clientOf(fixture, 'acme~ann'), clientOf(fixture, 'acme~bob')];
    const first = await ann.responses.create({ model: 'default', input: 'Keep a secret, will you?' });
    const { id } = first.output[0] as { id: string };
    const refer = (of: typeof ann) =>
      of.responses.create({
        model: 'default',
        input: [
          { type: 'item_reference', id },
          { role: 'user', content: 'What was that about?' },
        ],
      });
    expect(await failure(refer(bob))).toMatchObject({ status: 400, param: 'input[0].id' });
    const next = bob.responses.create({ model: 'default', input: 'Go on?', previous_response_id: first.id });
    expect(await failure(next)).toMatchObject({ status: 400, param: 'previous_response_id' });
    expect(await failure(bob.responses.cancel(first.id))).toMatchObject({ status: 404 });
    expect(stub.asked).toHaveLength(1);
    await refer(ann);
    expect(JSON.stringify(stub.asked[1].messages)).toContain('Your secret is safe.');
  });
});

it('stopping a response stops no later one', async () => {
  let isGone = false;
  const { client, fixture, stub } = await openAgent([
    say('One.'),
    (_, stream) => {
      stream.text('It is ');
      stream.onGone(() => {
        isGone = true;
      });
    },
  ]);
  const first = await client.responses.create({ model: 'default', input: 'What is first?' });
  const later = await client.responses.create({
    model: 'default',
    input: 'What time is it?',
    previous_response_id: first.id,
    background: true,
  });
  await until(() => stub.asked.length === 2);
  expect((await client.responses.cancel(first.id)).status).toBe('completed');
  // It has the ids of those that it stops, and were not stopped before.
  const { body } = await fixture.call('POST', `${conversationPath(later.conversation!.id)}/cancel`);
  expect(body.cancelled).toHaveLength(1);
  await until(() => isGone);
});
