import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Customer, type Fixture, kindsOf, openFixture, why } from './why-fixture.ts';

describe.each(['memory', 'aws'] as const)('why, on the store "%s"', kind => {
  let fixture: Fixture;
  let ann: Customer;
  let eve: Customer;

  beforeAll(async () => {
    fixture = await openFixture(kind);
    ann = await fixture.signUp('ann');
    eve = await fixture.signUp('eve');
  }, 60_000);
  afterAll(() => fixture.close());

  const followedKinds = async (id: string) => kindsOf((await why(ann.host(), id)).followed);
  const lastMessage = async (inbox_key: string) => {
    const { data: own } = await ann.host().accounts.mintInboxToken();
    const inbox = { tenant_id: own.tenant_id, inbox_key, uid: 'me' };
    const [newest] = (await fixture.as(own.token).inbox.feed(inbox)).data.data;
    return newest && `message:${own.tenant_id}/${inbox_key}/${newest.id}`;
  };

  test('a webhook, and the message about its failure', async () => {
    const eventId = await fixture.ingest(ann.shop, { type: 'invoice.paid' });
    await expect
      .poll(() => followedKinds(eventId), { timeout: 15_000 })
      .toEqual(['delivery', 'attempt', 'alert', 'message']);
    const explained = await why(ann.host(), eventId);
    expect(explained.root).toMatchObject({
      id: `event:${eventId}`,
      kind: 'event',
      what: expect.stringContaining('Shop'),
    });
    const id = (await lastMessage('alerts'))!;
    const { chain } = await why(ann.host(), id);
    expect(kindsOf(chain)).toEqual(['event', 'delivery', 'attempt', 'alert', 'message']);
    expect(chain[2]).toMatchObject({ decided: 'answered 500' });
    expect(chain.at(-1)).toMatchObject({ id, what: expect.stringContaining('delivery failed') });
  }, 30_000);

  test('a question, its approval, and the task that it became', async () => {
    const bob = await ann.mint('bob', 'agents:chat tasks:read tasks:write inbox:read');
    const { tenant_id } = ann;
    const { data: conversation } = await bob.agents.createConversation({ tenant_id, body: {} });
    const { conversation_id } = conversation;
    const body = { content: 'create task: buy milk' };
    const { data: sent, request_id } = await bob.agents.sendMessage({ tenant_id, conversation_id, body });
    const asked = `chat:${tenant_id}/${conversation_id}/${sent.message_id}`;
    expect(kindsOf((await why(bob, asked)).followed)).toContain('approval');
    const [approval] = 'approvals' in sent ? (sent.approvals ?? []) : [];
    const { approval_id } = approval!;
    await bob.agents.decideApproval({ tenant_id, conversation_id, approval_id, body: { approved: true } });
    await expect.poll(async () => (await bob.tasks.list({})).data.data.length).toBe(1);
    const [task] = (await bob.tasks.list({})).data.data;
    await expect.poll(async () => kindsOf((await why(bob, asked)).followed)).toContain('task');

    const { chain } = await why(bob, task!.task_id);
    expect(kindsOf(chain)).toEqual(['gap', 'chat', 'turn', 'approval', 'call', 'task']);
    expect(chain[3]).toMatchObject({ decided: 'approved', by: 'user:bob' });
    const whole = await why(ann.host(), `task:${tenant_id}:bob/${task!.task_id}`);
    expect(kindsOf(whole.chain)).toEqual(['request', 'chat', 'turn', 'approval', 'call', 'task']);
    expect(whole.root.id).toContain(request_id);
    // The documented item and the API of tasks are as they were.
    expect(Object.keys((await bob.tasks.get({ task_id: task!.task_id })).data)).not.toContain('cause');
  }, 30_000);

  test('a reminder is an event and a message because of its task', async () => {
    const at = new Date(Date.now() + 1500).toISOString();
    const { data: task } = await ann.host().tasks.create({ body: { title: 'Tea', reminder: { at } } });
    await expect
      .poll(() => followedKinds(task.task_id), { timeout: 20_000 })
      .toEqual(['reminder', 'message', 'event', 'delivery', 'attempt']);
    const [event] = (await ann.host().webhooks.listEvents({ sourceId: ann.stak })).data.data;
    expect(kindsOf((await why(ann.host(), event!.eventId)).chain)).toEqual([
      'request',
      'task',
      'reminder',
      'event',
    ]);
    const message = (await lastMessage('tasks'))!;
    expect(kindsOf((await why(ann.host(), message)).chain)).toEqual([
      'request',
      'task',
      'reminder',
      'message',
    ]);
  }, 40_000);

  test('a backend names the webhook that it handles, and a replay who asked for it', async () => {
    const eventId = await fixture.ingest(ann.shop, { type: 'order' });
    const { data: task } = await ann.host().tasks.create({ body: { title: 'Pack' }, 'stak-cause': eventId });
    expect(kindsOf((await why(ann.host(), task.task_id)).chain)).toEqual(['event', 'task']);
    await expect.poll(() => followedKinds(eventId), { timeout: 15_000 }).toContain('attempt');
    const { request_id } = await ann.host().webhooks.replayEvent({ eventId, body: {} });
    await expect
      .poll(async () => (await followedKinds(eventId)).filter(one => one === 'attempt').length, {
        timeout: 15_000,
      })
      .toBe(2);
    const { followed } = await why(ann.host(), eventId);
    const replayed = followed.filter(({ kind }) => kind === 'delivery')[1]!;
    const { root, chain } = await why(ann.host(), replayed.id!);
    expect(kindsOf(chain)).toEqual(['request', 'delivery']);
    expect(root).toMatchObject({
      id: expect.stringContaining(request_id),
      by: expect.stringContaining('api_key'),
    });
    expect(root.what).toContain('webhooks.replayEvent');
  }, 40_000);

  test('nobody sees the causes of others, not even by naming them', async () => {
    const theirs = await fixture.ingest(eve.shop, { type: 'secret' });
    const { data: task } = await ann.host().tasks.create({ body: { title: 'Mine' }, 'stak-cause': theirs });
    const { chain } = await why(ann.host(), task.task_id);
    expect(chain[0]).toMatchObject({
      what: 'not stored any more',
      id: `event:${theirs}`,
      by: null,
      at: null,
    });
    const unknown = `evt_${'0'.repeat(24)}`;
    const { data: other } = await ann.host().tasks.create({ body: { title: 'Mine' }, 'stak-cause': unknown });
    const gone = (await why(ann.host(), other.task_id)).chain[0];
    expect({ ...gone, id: '' }).toEqual({ ...chain[0], id: '' });
    for (const id of [theirs, `task:${eve.tenant_id}:bob/${task.task_id}`])
      await expect(why(ann.host(), id)).rejects.toMatchObject({ status: 404 });
    const bob = await ann.mint('bob', 'tasks:read');
    await expect(why(bob, task.task_id)).rejects.toMatchObject({ status: 404 });
    await expect(why(bob, await fixture.ingest(ann.shop, {}))).rejects.toMatchObject({ status: 404 });
  }, 30_000);

  const hostile = [
    'x',
    'evt_',
    'event:',
    'event:/',
    'event:a%23b',
    'event:%E0%A4%A',
    'event:a%00b',
    'delivery:evt_1/con_1/9999999999999',
    'attempt:evt_1/con_1/0/-1',
    'turn:a/b/1e9/2',
    'constructor:x',
    '__proto__:x',
    'hosted:shop-ann/alerts/x',
    'alerted:x/y',
    `task:${'a'.repeat(700)}/b`,
    'message:SHOP/x/y',
    'reminded:tsk_1/1/usr',
  ];
  test('ids that name nothing', async () => {
    for (const id of hostile) await expect(why(ann.host(), id), id).rejects.toMatchObject({ status: 404 });
  });
});
