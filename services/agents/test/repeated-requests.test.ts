import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Fixture, openFixture, openProcess, say } from './agents-fixture.ts';
import { loseAnswer } from './faults.ts';

const conversations = '/v1/tenants/acme/conversations';
const imports = '/v1/tenants/acme/conversation-imports';
const messages = [
  { role: 'user', content: 'Where is Oslo?' },
  { role: 'assistant', content: 'In Norway.' },
];

describe('a repeated request whose first answer was lost', () => {
  let fixture: Fixture;
  beforeEach(async () => {
    fixture = await openFixture();
  });
  afterEach(() => fixture.target.close());

  const losing = (after: number) => {
    const { target, clock } = fixture;
    return openProcess(target, { clock, client: loseAnswer(target.client, after) });
  };
  const listed = async () => (await fixture.call('GET', conversations)).body.data as { turns: number }[];

  it.each([{ title: 'Mine' }, { title: 'Mine', conversation_id: 'chosen' }])(
    'creates one conversation: %j',
    async send => {
      const process = losing(0);
      const create = (key: string) => process.call('POST', conversations, { send, key });
      expect((await create('k')).status).toBe(500);
      const again = await create('k');
      expect([again.status, again.body.title]).toEqual([201, 'Mine']);
      expect(await listed()).toHaveLength(1);
      const other = await create('another');
      expect(other.status).toBe('conversation_id' in send ? 409 : 201);
    },
  );

  it.each([0, 1])('imports a conversation once, after %i of its transactions', async after => {
    const process = losing(after);
    const upload = () => process.call('POST', imports, { send: { messages }, key: 'k' });
    expect((await upload()).status).toBe(500);
    const early = await upload();
    // The lease of the first run must end before its import is continued.
    expect([early.status, early.headers.get('retry-after')]).toEqual(after === 0 ? [503, '30'] : [201, null]);
    await fixture.clock.advance(31_000);
    expect((await upload()).body).toMatchObject({ turns: 1 });
    expect(await listed()).toMatchObject([{ turns: 1 }]);
  });

  it('does not bring back what was cleared', async () => {
    const process = losing(1);
    const send = { messages, conversation_id: 'chosen' };
    const upload = () => process.call('POST', imports, { send, key: 'k' });
    expect((await upload()).status).toBe(500);
    expect((await fixture.call('DELETE', `${conversations}/chosen/messages`)).status).toBe(204);
    expect((await upload()).body.code).toBe('agents.conversation_exists');
    expect(await listed()).toMatchObject([{ turns: 0 }]);
  });

  it('does not import behind a message that came first', async () => {
    const process = losing(0);
    const send = { messages, conversation_id: 'chosen' };
    const upload = () => process.call('POST', imports, { send, key: 'k' });
    expect((await upload()).status).toBe(500);
    await fixture.clock.advance(31_000);
    expect((await say(fixture, 'chosen', 'hello')).status).toBe(200);
    expect((await upload()).body.code).toBe('agents.conversation_exists');
  });
});
