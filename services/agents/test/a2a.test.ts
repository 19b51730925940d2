import { Role, type SendMessageRequest, type StreamResponse, type Task, TaskState } from '@a2a-js/sdk';
import {
  type Client,
  ClientFactory,
  ClientFactoryOptions,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
} from '@a2a-js/sdk/client';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineSkill } from '../src/index.ts';
import * as limits from '../src/limits.ts';
import { type Fixture, settle, until } from './agents-fixture.ts';
import { call, eventually, openAgent, say } from './openai-fixture.ts';
import type { Behaviour } from './openai-stub.ts';

// With the client of A2A's own SDK.

const base = 'http://localhost/v1/tenants/acme/a2a/';

const fetchAs =
  (fixture: Fixture, token: string): typeof fetch =>
  async (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set('authorization', `Bearer ${token}`);
    return fixture.app.request(String(input), { ...init, headers } as RequestInit, {
      remoteAddress: '203.0.113.7',
    });
  };

async function clientOf(fixture: Fixture, token = 'acme', url = base): Promise<Client> {
  const fetchImpl = fetchAs(fixture, token);
  const factory = new ClientFactory(
    ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
      transports: [new JsonRpcTransportFactory({ fetchImpl })],
      cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
    }),
  );
  return factory.createFromUrl(url);
}

let made = 0;
type Given = { contextId?: string; taskId?: string; messageId?: string; data?: unknown; now?: boolean };
const messageOf = (text: string, { data, now = false, ...ids }: Given = {}): SendMessageRequest => ({
  tenant: '',
  message: {
    ...{ messageId: `m${made++}`, contextId: '', taskId: '', role: Role.ROLE_USER, metadata: undefined },
    ...{ extensions: [], referenceTaskIds: [] },
    parts: [
      {
        content: data === undefined ? { $case: 'text', value: text } : { $case: 'data', value: data },
        ...{ metadata: undefined, filename: '', mediaType: '' },
      },
    ],
    ...ids,
  },
  configuration: now
    ? { acceptedOutputModes: [], taskPushNotificationConfig: undefined, returnImmediately: true }
    : undefined,
  metadata: undefined,
});

const textOf = ({ artifacts }: Task): string =>
  artifacts
    .flatMap(({ parts }) => parts)
    .map(({ content }) => (content?.$case === 'text' ? content.value : ''))
    .join('');
const ask = async (client: Client, ...given: Parameters<typeof messageOf>): Promise<Task> =>
  (await client.sendMessage(messageOf(...given))) as Task;
const follow = async (stream: AsyncIterable<StreamResponse>): Promise<StreamResponse[]> => {
  const events: StreamResponse[] = [];
  for await (const event of stream) events.push(event);
  return events;
};

// The text of an answer as a client of the stream assembles it, and the states that it went through.
function assemble(events: readonly StreamResponse[]) {
  let text = '';
  const states: TaskState[] = [];
  for (const { payload } of events) {
    if (payload?.$case === 'task') states.push(payload.value.status!.state);
    if (payload?.$case === 'statusUpdate') states.push(payload.value.status!.state);
    if (payload?.$case !== 'artifactUpdate') continue;
    const piece = payload.value.artifact!.parts.map(({ content }) =>
      content?.$case === 'text' ? content.value : '',
    );
    text = payload.value.append ? text + piece.join('') : piece.join('');
  }
  return { text, states };
}

const silent: Behaviour = (_, stream) => stream.text('…');

describe('an agent in A2A', () => {
  it('has a card that its client finds, and answers a message with a task that can be got again', async () => {
    const { fixture, stub } = await openAgent([say('Hello ', 'there.')]);
    const client = await clientOf(fixture);
    const task = await ask(client, 'What about tea?', { contextId: 'c' });
    expect(task).toMatchObject({ contextId: 'c', status: { state: TaskState.TASK_STATE_COMPLETED } });
    expect(textOf(task)).toBe('Hello there.');
    expect(stub.asked[0].messages.at(-1)).toMatchObject({ role: 'user', content: 'What about tea?' });
    expect(await client.getTask({ tenant: '', id: task.id })).toEqual(task);
    const { body } = await fixture.call('GET', '/v1/tenants/acme/conversations/c');
    expect(body.messages.map(({ content }: { content: string }) => content)).toEqual([
      'What about tea?',
      'Hello there.',
    ]);
  });

  it('continues a context, and begins a new one without', async () => {
    const { fixture, stub } = await openAgent([say('One.'), say('Two.'), say('Three.')]);
    const client = await clientOf(fixture);
    const first = await ask(client, 'first');
    expect(first.contextId).not.toBe('');
    const second = await ask(client, 'second', { contextId: first.contextId });
    expect(second.contextId).toBe(first.contextId);
    expect(stub.asked[1].messages.map(({ content }: { content: string }) => content)).toContain('first');
    const third = await ask(client, 'third');
    expect(third.contextId).not.toBe(first.contextId);
    const { tasks } = await client.listTasks({
      ...{ tenant: '', contextId: first.contextId, status: TaskState.TASK_STATE_UNSPECIFIED, pageToken: '' },
      ...{ statusTimestampAfter: undefined, pageSize: 1 },
    });
    expect(tasks.map(({ id }) => id)).toEqual([second.id]);
  });

  it('answers a message that is sent again once, with its first answer', async () => {
    const { fixture, stub } = await openAgent([say('Once.'), say('Twice.')]);
    const client = await clientOf(fixture);
    const tasks = [
      await ask(client, 'What about tea?', { messageId: 'same' }),
      await ask(client, 'What about tea?', { messageId: 'same' }),
    ];
    expect(tasks.map(textOf)).toEqual(['Once.', 'Once.']);
    expect(tasks[1]!.id).toBe(tasks[0]!.id);
    expect(stub.asked).toHaveLength(1);
    await expect(ask(client, 'Another', { messageId: 'same' })).rejects.toThrow();
  });

  it('streams the task, the pieces of its answer and its end', async () => {
    const { fixture } = await openAgent([say('Hello ', 'there.')]);
    const client = await clientOf(fixture);
    const events = await follow(client.sendMessageStream(messageOf('What about tea?', { contextId: 'c' })));
    const { text, states } = assemble(events);
    expect(text).toBe('Hello there.');
    expect(events[0]!.payload?.$case).toBe('task');
    expect(states.at(-1)).toBe(TaskState.TASK_STATE_COMPLETED);
    const { id } = (events[0]!.payload as { value: Task }).value;
    expect(textOf(await client.getTask({ tenant: '', id }))).toBe('Hello there.');
    const over = follow(client.resubscribeTask({ tenant: '', id }));
    await expect(over).rejects.toThrow('The task is over');
  });

  it('takes back what a model said before it failed', async () => {
    const { fixture } = await openAgent([
      (_, stream) => {
        stream.text('Half of an ');
        stream.fail('server_error');
      },
      say('Whole.'),
    ]);
    const client = await clientOf(fixture);
    const events = await eventually(fixture, follow(client.sendMessageStream(messageOf('What time is it?'))));
    const pieces = events.filter(({ payload }) => payload?.$case === 'artifactUpdate');
    expect(assemble(pieces.slice(0, 1)).text).toBe('Half of an ');
    const { text, states } = assemble(events);
    expect([text, states.at(-1)]).toEqual(['Whole.', TaskState.TASK_STATE_COMPLETED]);
  });

  it('is worked on in the background, is subscribed to, and is cancelled', async () => {
    const { fixture } = await openAgent([silent]);
    const client = await clientOf(fixture);
    const task = await ask(client, 'Think', { now: true });
    expect(task.status!.state).toBe(TaskState.TASK_STATE_WORKING);
    const followed = follow(client.resubscribeTask({ tenant: '', id: task.id }));
    const cancelled = await client.cancelTask({ tenant: '', id: task.id, metadata: undefined });
    expect(cancelled.status!.state).toBe(TaskState.TASK_STATE_CANCELED);
    expect(assemble(await followed).states.at(-1)).toBe(TaskState.TASK_STATE_CANCELED);
    const again = client.cancelTask({ tenant: '', id: task.id, metadata: undefined });
    await expect(again).rejects.toThrow('The task is over');
  });
});

describe('a task that needs an approval', () => {
  const paid: string[] = [];
  const pay = defineSkill({
    name: 'pay',
    description: 'Pays somebody.',
    triggers: [],
    parameters: z.strictObject({ to: z.string() }),
    acts: true,
    async run({ to }) {
      paid.push(to);
      return { data: { paid: to }, text: `Paid ${to}.` };
    },
  });
  const open = async (...replies: Behaviour[]) => {
    paid.length = 0;
    const agent = await openAgent([call('pay', { to: 'kim' }), ...replies], {
      skills: [pay],
      settings: { enabled_skills: ['pay'] },
    });
    const client = await clientOf(agent.fixture, 'acme~ann');
    const task = await ask(client, 'Pay Kim', { contextId: 'c' });
    expect(task.status!.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    const data = task.status!.message!.parts.flatMap(({ content }) =>
      content?.$case === 'data' ? [content.value] : [],
    );
    const [{ approval_id, name, input }] = (data[0] as { approvals: { [field: string]: unknown }[] })
      .approvals as [{ approval_id: string; name: string; input: unknown }];
    expect([name, input]).toEqual(['pay', { to: 'kim' }]);
    return { ...agent, client, task, approval_id };
  };

  it('goes on with a message that approves it, once', async () => {
    const { fixture, client, task, approval_id } = await open(say('Done.'));
    expect(paid).toEqual([]);
    let answer: Task | undefined;
    const decided = ask(client, '', { taskId: task.id, data: { approval_id, approved: true } }).then(got => {
      answer = got;
    });
    await until(async () => {
      await settle(fixture);
      await fixture.clock.advance(50);
      return answer !== undefined;
    });
    await decided;
    expect(answer).toMatchObject({ id: task.id, status: { state: TaskState.TASK_STATE_COMPLETED } });
    expect([textOf(answer!), paid]).toEqual(['Done.', ['kim']]);
    const again = ask(client, '', { taskId: task.id, data: { approval_id, approved: true } });
    await expect(again).rejects.toThrow('does not wait for anything');
  });

  it('is not decided by words, by a foreign approval, or by somebody else', async () => {
    const { fixture, client, task, approval_id } = await open();
    const data = { approval_id, approved: true };
    await expect(ask(client, 'Yes, do it', { taskId: task.id })).rejects.toThrow('waits for approvals');
    const foreign = ask(client, '', { taskId: task.id, data: { ...data, approval_id: 'another' } });
    await expect(foreign).rejects.toThrow('does not wait for this approval');
    const moved = ask(client, '', { taskId: task.id, contextId: 'd', data });
    await expect(moved).rejects.toThrow('another context');
    const bob = await clientOf(fixture, 'acme~bob');
    await expect(ask(bob, '', { taskId: task.id, data })).rejects.toThrow();
    await settle(fixture);
    expect(paid).toEqual([]);
  });
});

describe('what a caller may not do', () => {
  it('is to read, cancel or continue the tasks of others', async () => {
    const { fixture } = await openAgent([say('For Ann.'), say('For Bob.')]);
    const [ann, bob, host] = await Promise.all(
      ['acme~ann', 'acme~bob', 'acme'].map(who => clientOf(fixture, who)),
    );
    const task = await ask(ann!, 'What about tea?', { contextId: 'c' });
    expect(textOf(await host!.getTask({ tenant: '', id: task.id }))).toBe('For Ann.');
    await expect(bob!.getTask({ tenant: '', id: task.id })).rejects.toThrow();
    await expect(bob!.cancelTask({ tenant: '', id: task.id, metadata: undefined })).rejects.toThrow();
    const other = await ask(bob!, 'What about tea?', { contextId: 'c' });
    expect([other.contextId === task.contextId, textOf(other)]).toEqual([false, 'For Bob.']);
    await expect(clientOf(fixture, 'globex')).rejects.toThrow('404');
    const stranger = await rpc(fixture, 'globex', 'GetTask', { id: task.id });
    expect([stranger.status, stranger.body.error.data[0]?.reason]).toEqual([404, 'tenants.not_found']);
    expect((await rpc(fixture, 'nobody', 'GetTask', { id: task.id })).status).toBe(401);
  });

  it('is to send what is not of the protocol', async () => {
    const { fixture } = await openAgent([say('Hm.')]);
    const text = (value: unknown) => ({
      message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: value }] },
    });
    for (const [method, params, code, more] of [
      ['NoSuch', {}, -32601, {}],
      ['SendMessage', {}, -32602, {}],
      ['SendMessage', text(5), -32602, {}],
      ['SendMessage', text(' '), -32602, {}],
      ['SendMessage', text('x'.repeat(limits.contentChars + 1)), -32602, {}],
      ['SendMessage', { ...text('What about tea?'), surprise: 1 }, -32602, {}],
      ['SendMessage', { message: { ...text('What about tea?').message, role: 'ROLE_AGENT' } }, -32602, {}],
      ['SendMessage', { message: { ...text('What about tea?').message, contextId: '../x y' } }, -32602, {}],
      [
        'SendMessage',
        { message: { ...text('What about tea?').message, parts: [{ raw: 'AAAA' }] } },
        -32005,
        {},
      ],
      [
        'SendMessage',
        {
          ...text('What about tea?'),
          configuration: { taskPushNotificationConfig: { url: 'http://10.0.0.1/' } },
        },
        -32003,
        {},
      ],
      ['CreateTaskPushNotificationConfig', { url: 'http://10.0.0.1/' }, -32003, {}],
      ['GetTask', { id: 'nonsense' }, -32001, {}],
      ['GetTask', { id: `task_${Buffer.from('c\nmsg_1').toString('base64url')}` }, -32001, {}],
      ['ListTasks', {}, -32004, {}],
      ['GetTask', { id: 'nonsense' }, -32009, { 'a2a-version': '0.3' }],
    ] as const) {
      const { status, body } = await rpc(fixture, 'acme', method, params, more);
      expect([method, status, body.id, body.error?.code]).toEqual([method, 200, 7, code]);
    }
    for (const body of ['[', '[]', '{"jsonrpc":"1.0","id":1,"method":"GetTask"}']) {
      const answer = await fetchAs(fixture, 'acme')('http://localhost/v1/tenants/acme/a2a', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      });
      expect([answer.status, ((await answer.json()) as { error: { code: number } }).error.code]).toEqual([
        400, -32600,
      ]);
    }
  });

  it('is to spend more than there is', async () => {
    const { fixture, stub } = await openAgent([say('Hm.')], { settings: { messages_per_day: 1 } });
    const client = await clientOf(fixture);
    await ask(client, 'One');
    await expect(ask(client, 'Two')).rejects.toThrow();
    const refused = await rpc(fixture, 'acme', 'SendMessage', {
      message: { messageId: 'three', role: 'ROLE_USER', parts: [{ text: 'Three' }] },
    });
    expect([refused.status, refused.body.error.data[0]?.reason]).toEqual([429, 'agents.quota_exceeded']);
    expect(refused.retryAfter).toMatch(/^\d+$/);
    expect(stub.asked).toHaveLength(1);
  });
});

type RpcError = { code: number; message: string; data: { reason: string }[] };
type Answer = { id: unknown; error: RpcError };

async function rpc(fixture: Fixture, token: string, method: string, params: unknown, headers = {}) {
  const response = await fetchAs(fixture, token)('http://localhost/v1/tenants/acme/a2a', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 7, method, params }),
  });
  const body = (await response.json()) as Answer;
  return { status: response.status, body, retryAfter: response.headers.get('retry-after') };
}
