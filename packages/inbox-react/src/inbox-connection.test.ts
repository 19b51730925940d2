import { describe, expect, it } from 'vitest';
import { unreadMessage } from '../test/unread-message.ts';
import { type Change, connectInbox, type Snapshot } from './inbox-connection.ts';
import type { Counts } from './message.ts';

const counts = (unread: number): Counts => ({ total: 2, unread, unseen: 0, categories: {} });
const message = unreadMessage('m1');
const json = (value: unknown, status = 200) => Response.json(value, { status });
const refusal = (code: string, detail: string, status: number) => json({ code, detail, status }, status);

// A server whose answers and their timing the test controls.
function connect(
  answer: (path: string) => Response | Promise<Response>,
  join = (): Response => json({ uid: 'me', joinedat: 1 }),
) {
  let events: ReadableStreamDefaultController<Uint8Array> | undefined;
  let isDown = false;
  const inbox = connectInbox({
    baseUrl: 'http://inbox.test',
    token: 't',
    tenant: 'shop',
    inbox: 'news',
    fetch: async url => {
      const path = new URL(url).pathname.replace(/^\/v1\/tenants\/shop\/inboxes\/news\/users\/me\/?/, '');
      if (path === '') return join();
      if (isDown) throw new TypeError('fetch failed');
      if (path !== 'stream') return answer(path);
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          events = controller;
        },
      });
      return new Response(body, { headers: { 'Content-Type': 'text/event-stream' } });
    },
  });
  const changes: Change[] = [];
  inbox.onChange(change => changes.push(change));
  const until = (isSo: (snapshot: Snapshot) => boolean) =>
    new Promise<void>(resolve => {
      const look = () => isSo(inbox.snapshot()) && resolve();
      inbox.subscribe(look);
      look();
    });
  return {
    inbox,
    changes,
    until,
    send: (event: string, data: unknown) =>
      events!.enqueue(
        new TextEncoder().encode(`id: 1.0.1\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`),
      ),
    breakDown() {
      isDown = true;
      events!.error(new Error('gone'));
    },
    comeBack: () => (isDown = false),
  };
}

describe('an inbox', () => {
  it('requests one token for concurrent calls, and another when it is refused', async () => {
    let asked = 0;
    let refused = '';
    const inbox = connectInbox({
      baseUrl: 'http://inbox.test',
      token: async () => `token-${++asked}`,
      tenant: 'shop',
      inbox: 'news',
      fetch: async (_, init) =>
        new Headers(init.headers).get('authorization') === `Bearer ${refused}`
          ? refusal('http.unauthenticated', 'The token has expired.', 401)
          : json({ data: [], next_cursor: null }),
    });
    await Promise.all([inbox.readPage({}, 10), inbox.readPage({ view: 'archived' }, 10)]);
    expect(asked).toBe(1);
    refused = 'token-1';
    await Promise.all([inbox.readPage({}, 10), inbox.readPage({ view: 'archived' }, 10)]);
    expect(asked).toBe(2);
  });

  it('joins when it is opened, and continues if the token may only read', async () => {
    let joined = 0;
    const { inbox, until } = connect(
      () => json(counts(0)),
      () => {
        joined += 1;
        return refusal('http.forbidden', 'The token may only read.', 403);
      },
    );
    const close = inbox.open();
    await until(({ connection }) => connection === 'live');
    expect(joined).toBe(1);
    expect(inbox.snapshot().error).toBeUndefined();
    close();
  });

  it('shows a mark at once, and then the server’s counts', async () => {
    let finish = (_: Response) => {};
    const { inbox, changes, until, send } = connect(path =>
      path === 'counts' ? json(counts(0)) : new Promise(resolve => (finish = resolve)),
    );
    const close = inbox.open();
    await until(({ connection }) => connection === 'live');
    send('counts', counts(2));
    await until(snapshot => snapshot.counts?.unread === 2);

    const marked = inbox.mark(message, { kind: 'read' });
    expect(inbox.snapshot().counts?.unread).toBe(1);
    expect(changes.at(-1)).toMatchObject({ kind: 'message', message: { read: true } });
    send('counts', counts(2)); // from before the mark, must not be shown
    send('redaction', { id: 'm0' });
    await expect.poll(() => changes.at(-1)).toEqual({ kind: 'gone', id: 'm0' });
    expect(inbox.snapshot().counts?.unread).toBe(1);
    finish(json({ ...message, read: true }));
    await marked;
    await until(snapshot => snapshot.counts?.unread === 0);
    close();
  });

  it('reverts a mark that the server refuses, and reports why', async () => {
    const tooMany = refusal('inbox.too_many_snoozed', 'At most 50 messages can be snoozed.', 409);
    const { inbox, changes, until } = connect(path => (path === 'counts' ? json(counts(2)) : tooMany));
    await inbox.mark(message, { kind: 'archive' });
    expect(changes.at(-1)).toEqual({ kind: 'message', message });
    await until(({ error }) => error === 'At most 50 messages can be snoozed.');
  });

  it('does not restore what was redacted while it was marked', async () => {
    const missing = refusal('inbox.message_not_found', 'There is no such message.', 404);
    const { inbox, changes, until } = connect(path => (path === 'counts' ? json(counts(1)) : missing));
    await inbox.mark(message, { kind: 'archive' });
    expect(changes.at(-1)).toEqual({ kind: 'gone', id: 'm1' });
    await until(({ error }) => error === 'There is no such message.');
  });

  it('reloads the list when another client changed the counts', async () => {
    const { inbox, changes, until, send } = connect(() => json(counts(0)));
    const close = inbox.open();
    await until(({ connection }) => connection === 'live');
    send('counts', counts(1));
    await until(snapshot => snapshot.counts?.unread === 1);
    expect(changes).toEqual([{ kind: 'stale' }]);
    send('counts', counts(1)); // nothing new
    send('redaction', { id: 'm1' });
    await expect.poll(() => changes).toEqual([{ kind: 'stale' }, { kind: 'gone', id: 'm1' }]);
    close();
  });

  it('reports a lost connection, and recovers by itself', async () => {
    const { inbox, changes, until, breakDown, comeBack } = connect(() => json(counts(0)));
    const close = inbox.open();
    await until(({ connection }) => connection === 'live');
    breakDown();
    await until(({ connection }) => connection === 'lost');
    comeBack();
    await until(({ connection }) => connection === 'live');
    await expect.poll(() => changes).toEqual([{ kind: 'stale' }]);
    close();
  });
});
