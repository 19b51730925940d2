import { afterAll, beforeAll, expect, test } from 'vitest';
import { type SignedIn, signIn, untilPrinted } from './signed-in.ts';

let me: SignedIn;
beforeAll(async () => {
  me = await signIn();
  await me.client.tenants.create({ body: { tenant_id: 'acme', name: 'Acme', status: 'active' } });
  await me.client.inbox.writeInbox({ tenant_id: 'acme', inbox_key: 'news', body: { title: 'News' } });
}, 60_000);
afterAll(() => me.close());

const flags = ['--tenant', 'acme', '--inbox', 'news'];
const ann = [...flags, '--user', 'ann'];

test('a message travels from its sender to its reader, who sees it arrive and go', async () => {
  const tail = me.start({}, 'inbox', 'tail', ...ann);
  await untilPrinted(tail, 'counts   0 in all');

  const [sent, broadcast, mistake] = await Promise.all([
    me.run('inbox', 'send', ...flags, '--to', 'ann,bob', '--title', 'Hello', '--data', '{"amount":5}'),
    me.run('inbox', 'broadcast', ...flags, '--title', 'To all', '--category', 'news'),
    me.fail('inbox', 'send', ...flags, '--to', 'ann', '--title', 'x', '--data', '{'),
  ]);
  expect(mistake).toContain('--data needs JSON');
  await untilPrinted(tail, `${sent}  `);
  await untilPrinted(tail, `${broadcast}  `);
  await untilPrinted(tail, 'counts   2 in all, 2 unread, 2 unseen');

  const [sends, feed, read] = await Promise.all([
    me.run('inbox', 'list', ...flags),
    me.run('inbox', 'list', ...ann),
    me.run('inbox', 'read', sent, ...ann),
  ]);
  expect(sends).toMatch(new RegExp(`${sent} .* 2 +sent .*Hello`));
  expect(sends).toMatch(new RegExp(`${broadcast} .* everyone +sent .*To all`));
  expect(feed).toContain(sent);
  expect(JSON.parse(read)).toMatchObject({ id: sent, read: true, message: { body: { amount: 5 } } });

  await me.run('inbox', 'redact', sent, ...flags);
  await untilPrinted(tail, `redacted ${sent}`);
  expect(await me.run('inbox', 'read', '--all', ...ann)).toBe('1 marked as read');
  tail.child.kill('SIGINT');
  expect(await tail.code, tail.stderr).toBe(0);
}, 120_000);
