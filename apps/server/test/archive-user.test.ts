import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryChoice } from '@stak/agents/tables';
import { createStore, entityOf } from '@stak/table';
import { reminder } from '@stak/tasks/tables';
import { invitation, portalSession } from '@stak/tenants/tables';
import { expect, test } from 'vitest';
import { accountTables } from '../src/store/archive/account.ts';
import { openDatabase } from '../src/store/database.ts';
import { itemsIn, logIn, makeEverything, quickClock, withServer } from './everything.ts';
import { openFixture } from './walk/fixture.ts';

const isOfOther = /bob|ERASURES/; // whom the walk erases
const user = { tenant_id: 'walked', user_id: 'ann' };

// Exported entities, by the entity that the erasure removes.
const kinds: Record<string, string> = {
  'conversations: approval': 'approval',
  'conversations: conversation': 'conversation',
  'conversations: turn': 'turn',
  "conversations: usage of a user's day": 'agent usage',
  'stak-inbox: category stats': 'inbox category stats',
  'stak-inbox: member': 'inbox member',
  'stak-inbox: user message': 'inbox user message',
  'stak-inbox: user stats': 'inbox user stats',
  'tenants: invitation': 'invitation',
  'tenants: memory choice of a user': 'memory choice',
  'tenants: memory of a user': 'memory',
  'tenants: session of a user': 'session',
  'tenants: user': 'user',
  'todo-app-data: reminder': 'reminder',
  'todo-app-data: task': 'task',
  'todo-app-data: trashed task': 'trashed task',
  'todo-app-data: user': 'profile',
};

// These are not exported: they are secret, counted from the rest, or say the same again.
const exceptions: readonly string[] = [
  'conversations: memory job',
  'conversations: message', // a receipt of what is in a turn; one that waits is exported
  'conversations: state of a conversation',
  'stak-inbox: expiry',
  'tenants: channel identity of a user',
  'tenants: e-mail of a user',
  'tenants: what a user had forgotten', // words of turns, sealed so that nobody finds them
  'todo-app-data: calendar feed', // the hash of a secret address
  'todo-app-data: change',
  'todo-app-data: e-mail lock',
  'todo-app-data: expiry',
  'todo-app-data: idempotency record',
  'todo-app-data: tally',
  'todo-app-data: tenant member',
];

// Adds entities that no step of the walk leaves behind.
async function addRest(path: string): Promise<void> {
  const { client, close } = await openDatabase({ kind: 'embedded', path }, { isSecondary: true });
  const store = createStore({ client });
  const at = new Date().toISOString();
  const later = Math.floor(Date.now() / 1000) + 30 * 24 * 3600;
  await store.put(memoryChoice, { ...user, declined_at: at });
  await store.put(portalSession, {
    ...user,
    session_id: 'ses_1',
    sealed_secret: 'secret',
    generation: 1,
    rotated_at_ms: 1,
    started_at: 1,
    last_used_at: at,
    ends_at: later,
    ttl: later,
  });
  await store.put(invitation, {
    tenant_id: user.tenant_id,
    invitation_id: `inv_${createHash('sha256').update('walked ann@example.com').digest('hex').slice(0, 24)}`,
    email: 'ann@example.com',
    role: 'member',
    user_id: user.user_id,
    token_hash: 'hash',
    created_at: at,
    expires_at: at,
    ttl: later,
  });
  const due = { due_at: 1, shard: 1, fence: 0, attempts: 5, failure: 'no route' };
  await store.put(reminder, { user_id: 'walked:ann', task_id: 'tsk_1', ...due });
  await close();
}

test('a user’s export contains everything that their erasure removes', { timeout: 120_000 }, async () => {
  const path = await mkdtemp(join(tmpdir(), 'stak-user-'));
  const keys = `k1:${randomBytes(32).toString('base64')}`;
  const fixture = await openFixture(undefined, { STAK_LAKE: 'off', STAK_SECRET_KEYS: keys }, path);
  await makeEverything(fixture);
  await fixture.server.stop();
  await addRest(path);
  const exported: string[] = [];
  const before = await itemsIn(path);
  await withServer(
    path,
    keys,
    async url => {
      const client = await logIn(url, fixture.owner);
      const { data } = await client.tenants.exportUser(user);
      for (const line of String(Buffer.from(data)).trim().split('\n'))
        exported.push((JSON.parse(line) as { kind: string }).kind);
      await client.tenants.eraseUser(user);
      const left = async () =>
        [...(await itemsIn(path)).keys()].filter(key =>
          /ERASURES|walked-talk (?:TURN|MSG|APPROVAL)/.test(key),
        );
      await expect.poll(left, { timeout: 60_000 }).toEqual([]);
    },
    quickClock(),
  );
  const after = await itemsIn(path);
  const removed: string[] = [];
  for (const [key, item] of before) {
    if (after.has(key) || isOfOther.test(key)) continue;
    const table = accountTables.find(({ name }) => key.startsWith(`${name} `))!;
    const name = `${table.name}: ${entityOf(table, item)?.name}`;
    if (!exceptions.includes(name)) removed.push(kinds[name] ?? name);
  }
  expect(exported.toSorted()).toEqual([...removed, 'end'].toSorted());
  expect(new Set(removed)).toEqual(new Set(Object.values(kinds)));
  await rm(path, { recursive: true });
});
