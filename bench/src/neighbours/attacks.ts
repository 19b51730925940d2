import { setTimeout as sleep } from 'node:timers/promises';
import type { Customer } from '../server/customer.ts';

// One account tries to slow down the others, with texts that once blocked the server for minutes and the most expensive
// rules that are accepted. Each is sent repeatedly, whatever the response.

export type Attack = { name: string; strike(): Promise<unknown> };

type Ask = (method: string, path: string, body?: unknown, token?: string) => Promise<Response>;

const comments = `${'/**/'.repeat(4000)}x`;
const wide = JSON.stringify(Array.from({ length: 9_000 }, (_, i) => ({ a: i, b: 'x' })));
const body = (path: string, operator: string, value?: unknown) => ({ field: 'body', path, operator, value });
const pattern = body('$.a', 'regex', 'a{1000}b{1000}c{1000}d{1000}');
const descent = '$..[?@.a > 1 && @.a < 9 || @.b == 1 || @.c == 2]';
const branch = { oneOf: Array(6).fill({ type: 'object', properties: { a: { minLength: 1 } } }) };
const schema = { type: 'object', allOf: Array(20).fill(branch) };

// Accepted rules with the highest possible cost.
const rules = {
  paths: { type: 'field_map', fields: Array(10).fill({ to: '$.f', from: descent }) },
  templates: {
    type: 'field_map',
    fields: Array(50).fill({ to: '$.f', template: '{{$'.repeat(100) + ' '.repeat(700) }),
  },
  loop: { type: 'javascript', code: 'for (;;);' },
  hunger: {
    type: 'javascript',
    code: 'const transform = () => { const a = []; for (;;) a.push(new Uint8Array(1e5)); }',
  },
} as const;
const filters = [
  ...Array(10).fill(body(descent, 'not_exists')),
  ...Array(5).fill(body('$.a', 'regex', '(a|b)*c')),
];

export async function prepareAttacks(
  url: string,
  customer: Customer,
  destination: string,
): Promise<Attack[]> {
  const { client, tenantId, sessions, endUsers } = customer;
  const ask: Ask = async (method, path, sent, token = sessions[0]!) => {
    const answer = await fetch(url + path, {
      method,
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      ...(sent !== undefined && { body: typeof sent === 'string' ? sent : JSON.stringify(sent) }),
    });
    // A fault, or a limit of ours that rejects the attack before it does any harm.
    if ((answer.status >= 500 && answer.status !== 503) || [401, 404, 413].includes(answer.status))
      throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return answer;
  };
  const { sourceId } = (await client.webhooks.createSource({ body: { name: 'heavy' } })).data;
  const connections = `/v1/sources/${sourceId}/connections`;
  for (const [name, transform] of Object.entries(rules))
    for (let i = 0; i < 3; i++) {
      const draft = {
        name,
        destinationUrl: `${destination}/heavy`,
        filters: i === 0 ? filters : [],
        transform,
      };
      const answer = await ask('POST', connections, draft);
      if (answer.status !== 201) throw new Error(`a connection: ${answer.status} ${await answer.text()}`);
    }
  const tenant = `/v1/tenants/${tenantId}`;
  await ask('PUT', `${tenant}/inboxes/heavy`, { title: 'Heavy', schema });
  let turn = 0;
  return [
    { name: 'comments before SQL', strike: () => ask('POST', '/v1/lake/query', { sql: comments }) },
    {
      name: 'patterns that are counted too late',
      strike: () =>
        ask('POST', connections, {
          name: 'x',
          destinationUrl: destination,
          filters: Array(15).fill({ or: Array(50).fill(pattern) }),
        }),
    },
    { name: 'a series of seven thousand years', strike: () => repeatTask(ask) },
    {
      name: 'templates of braces',
      strike: () =>
        ask('POST', connections, { name: 'x', destinationUrl: 'ftp://nowhere', transform: rules.templates }),
    },
    { name: 'events for heavy rules', strike: () => ask('POST', `/in/${sourceId}`, wide) },
    {
      name: 'SQL of many users',
      strike: () => {
        turn += 1;
        const sql = 'select count(*) from range(100000000) a, range(100) b';
        return ask('POST', '/v1/lake/query', { sql }, endUsers[turn % endUsers.length]!.token);
      },
    },
    {
      name: 'schemas that take long to compile',
      strike: () => {
        turn += 1;
        const draft = { title: 'Heavy', schema: { ...schema, title: String(turn) } };
        return ask('PUT', `${tenant}/inboxes/heavy`, draft);
      },
    },
    {
      name: 'messages for a heavy schema',
      strike: () => {
        const message = { title: 'x', body: { a: 'x'.repeat(100), list: Array(10_000).fill(0) } };
        return ask('POST', `${tenant}/inboxes/heavy/messages`, { message, uids: [endUsers[0]!.userId] });
      },
    },
  ];
}

async function repeatTask(ask: Ask): Promise<void> {
  const made = await ask('POST', '/v1/tasks', {
    title: 'x',
    due_date: '1970-01-01',
    recurrence: 'FREQ=DAILY;COUNT=999999;BYMONTHDAY=1,2,3',
  });
  const { task_id } = (await made.json()) as { task_id?: string };
  if (task_id === undefined) return;
  await ask('PATCH', `/v1/tasks/${task_id}`, { due_date: '2068-12-01' });
  await ask('PATCH', `/v1/tasks/${task_id}`, { status: 'completed' });
}

// Until the signal, each at a limited rate: together more than the usual rate limit allows one caller. Resolves with
// the number of responses to each.
export async function keepStriking(
  attacks: readonly Attack[],
  { callersEach, everyMs, signal }: { callersEach: number; everyMs: number; signal: AbortSignal },
): Promise<Record<string, number>> {
  const answered: Record<string, number> = {};
  const repeat = async ({ name, strike }: Attack) => {
    while (!signal.aborted) {
      const pause = sleep(everyMs);
      await strike();
      answered[name] = (answered[name] ?? 0) + 1;
      await pause;
    }
  };
  await Promise.all(attacks.flatMap(attack => Array.from({ length: callersEach }, () => repeat(attack))));
  return answered;
}
