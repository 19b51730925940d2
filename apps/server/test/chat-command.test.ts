import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { figuresOf } from '../src/cli/services/chat-actions.ts';
import { converse } from '../src/cli/services/chat-session.ts';
import { type SignedIn, signIn } from './signed-in.ts';

let me: SignedIn;
const ann = ['chat', '--tenant', 'acme', '--user', 'ann'];
beforeAll(async () => {
  me = await signIn();
  await me.client.tenants.create({ body: { tenant_id: 'acme', name: 'Acme', status: 'active' } });
  for (const user_id of ['ann', 'bob'])
    await me.client.tenants.createUser({ tenant_id: 'acme', body: { user_id, display_name: user_id } });
}, 60_000);
afterAll(() => me.close());

test('a message as an argument starts a conversation, one from a pipe continues it', async () => {
  const first = await me.pipe('', ...ann, 'Hello', 'there');
  expect(first.stdout).toMatch(/^Hello\. I can help with:\n- sprint_status: .*\n$/);
  expect(first.stderr).toContain('rule greeting · no model · 0 tokens in, 0 out · $0\n');
  const conversation_id = /--conversation (conv_\w+)/.exec(first.stderr)![1]!;

  const second = await me.pipe('What can\nyou do?\n', ...ann, '--conversation', conversation_id);
  expect(second.stdout).not.toBe('');
  expect(second.stderr).not.toContain('a new conversation');

  const conversation = { tenant_id: 'acme', conversation_id };
  const { data } = await me.client.agents.listMessages(conversation);
  expect(data.data.map(({ messages }) => messages[0])).toEqual([
    { role: 'user', content: 'Hello there' },
    { role: 'user', content: 'What can\nyou do?' },
  ]);
  expect((await me.client.agents.getConversation(conversation)).data.user_id).toBe('ann');
  expect(
    await me.fail('chat', '--tenant', 'acme', '--user', 'bob', '--conversation', conversation_id, 'Hi'),
  ).toBe(`stak: ${conversation_id} is a conversation of ann`);
}, 120_000);

test('reports errors in one line', async () => {
  const [silent, nobody, elsewhere] = await Promise.all([
    me.fail(...ann),
    me.fail('chat', '--tenant', 'acme', 'Hi'),
    me.fail('chat', '--tenant', 'nowhere', '--user', 'ann', 'Hi'),
  ]);
  expect(silent).toMatch(/^stak: what do you want to say\?.*$/);
  expect(nobody).toBe('stak: --user needs one value; see stak chat --help');
  expect(elsewhere).toMatch(/^stak: .*\(tenants\.not_found\); see stak tenants list$/);
}, 60_000);

test('reads line by line at a terminal, and continues after a failure', async () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const said: string[] = [];
  const say = async (content: string) => {
    if (content === 'fail') throw new Error('no\nluck');
    said.push(content);
  };
  const over = converse({ input, output, say });
  input.end('Hello\n\n  fail\nGoodbye\n');
  await over;
  expect(said).toEqual(['Hello', 'Goodbye']);
  expect(output.read().toString()).toContain('stak: no luck\n');
});

test('Ctrl-C ends it, even during an answer', async () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const say = (_: string, signal: AbortSignal) =>
    new Promise<void>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
      input.write('\u0003');
    });
  const over = converse({ input, output, say });
  input.write('Hello\n');
  await over;
  expect(output.read().toString()).not.toContain('stak:');
});

test('shows the usage of a model’s answer', () => {
  const usage = { input_tokens: 120, output_tokens: 30 };
  const answer = {
    routing: 'model',
    rule: null,
    skills: ['usage'],
    model: 'claude',
    usage,
    cost_usd: 0.00045,
  };
  expect(figuresOf(answer as never)).toBe('model · used usage · claude · 120 tokens in, 30 out · $0.00045');
});
