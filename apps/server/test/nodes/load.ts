import type { Random } from '@stak/kit';
import { askAgain, make } from '../crash/server.ts';
import type { Cluster } from './cluster.ts';

// Users do each thing once through the proxy, whatever happens: a request that got no answer is sent again with its
// Idempotency-Key until there is one.

export type Work = {
  name: string;
  send(isOver: () => boolean): Promise<void>;
  // Lists the violations, once everything is quiet.
  check(): Promise<string[]>;
};

const pauseMs = 400; // between two requests: three servers and their store share the machine with the test
const pause = () => new Promise(resolve => setTimeout(resolve, pauseMs));

const tenant = 'acme';
const inbox = `/v1/tenants/${tenant}/inboxes/news`;
const users = ['ann', 'bob', 'cleo', 'dan', 'eve'];

export async function prepareInbox(cluster: Cluster, token: string, random: Random): Promise<Work> {
  await make(cluster, '/v1/tenants', { send: { tenant_id: tenant, name: 'Acme', status: 'active' }, token });
  await make(cluster, inbox, { method: 'PUT', send: { title: 'News' }, token });
  const expected = new Map(users.map(uid => [uid, new Set<string>()]));
  let sent = 0;

  async function* listMessages(uid: string) {
    for (let cursor: string | null = ''; cursor !== null; ) {
      const after: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const { json } = await askAgain(cluster, `${inbox}/users/${uid}/messages?limit=100${after}`, { token });
      yield* json.data as { message: { title: string }; read: boolean }[];
      cursor = json.next_cursor as string | null;
    }
  }

  return {
    name: 'inbox',
    async send(isOver) {
      while (!isOver()) {
        const title = `message-${++sent}`;
        const uids = users.filter(() => random() < 0.4);
        if (uids.length === 0) continue;
        await make(cluster, `${inbox}/messages`, {
          send: { uids, message: { title, body: 'Hello' } },
          token,
          key: title,
        });
        for (const uid of uids) expected.get(uid)!.add(title);
        if (random() < 0.1) await make(cluster, `${inbox}/users/${uids[0]}/read`, { send: {}, token });
        await pause();
      }
    },
    async check() {
      const wrong: string[] = [];
      for (const [uid, titles] of expected) {
        const found: string[] = [];
        let unread = 0;
        for await (const { message, read } of listMessages(uid)) {
          found.push(message.title);
          unread += read ? 0 : 1;
        }
        const { json: counts } = await askAgain(cluster, `${inbox}/users/${uid}/counts`, { token });
        const missing = [...titles].filter(title => !found.includes(title));
        if (missing.length > 0) wrong.push(`${uid} lacks ${missing.join(', ')}`);
        if (new Set(found).size !== found.length) wrong.push(`${uid} has a message twice`);
        if (found.some(title => !titles.has(title))) wrong.push(`${uid} has a message of nobody`);
        if (counts.total !== found.length || counts.unread !== unread)
          wrong.push(`${uid} has ${found.length} messages, ${unread} unread, and ${JSON.stringify(counts)}`);
      }
      return wrong;
    },
  };
}

export type Tasks = Work & { latenciesMs(): readonly number[] };

// Tasks of one user, and a listener at each server that comes back when its server does.
export async function prepareTasks(cluster: Cluster, token: string): Promise<Tasks & { close(): void }> {
  const answeredMs = new Map<string, number>();
  const latencies: number[] = [];
  const over = new AbortController();
  const listeners = cluster.nodes.map(url => listen(url, token, over.signal));
  await Promise.all(listeners.map(({ opened }) => opened));
  let made = 0;

  return {
    name: 'tasks',
    latenciesMs: () => latencies,
    async send(isOver) {
      while (!isOver()) {
        const title = `task-${++made}`;
        const open = listeners.filter(one => one.isOpen());
        await make(cluster, '/v1/tasks', { send: { title }, token, key: title });
        const atMs = performance.now();
        answeredMs.set(title, atMs);
        // One that lost its server meanwhile hears of it when it is back, which is not counted here.
        for (const listener of open)
          void listener.hear(title).then(heardMs => {
            if (heardMs !== undefined) latencies.push(Math.max(0, heardMs - atMs));
          });
        await pause();
      }
    },
    async check() {
      const wrong: string[] = [];
      const found: string[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const after: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
        const { json } = await askAgain(cluster, `/v1/tasks?limit=100${after}`, { token });
        found.push(...(json.data as { title: string }[]).map(({ title }) => title));
        cursor = json.next_cursor as string | null;
      }
      const titles = [...answeredMs.keys()];
      if (found.toSorted().join() !== titles.toSorted().join())
        wrong.push(`${titles.length} tasks were made once, and ${found.length} are there`);
      for (const [node, { heard }] of listeners.entries()) {
        const missed = titles.filter(title => !heard.has(title));
        if (missed.length > 0)
          wrong.push(`the listener at server ${node} never heard of ${missed.join(', ')}`);
      }
      return wrong;
    },
    close: () => over.abort(),
  };
}

// An event stream of one server. It is opened again with the last id that was seen, as a browser does.
function listen(url: string, token: string, signal: AbortSignal) {
  const heard = new Map<string, number>();
  const waiting = new Map<string, (heardMs: number | undefined) => void>();
  let isOpen = false;
  let lastId: string | undefined;
  let setOpened = () => {};
  const opened = new Promise<void>(resolve => {
    setOpened = resolve;
  });

  function take(block: string): void {
    const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1];
    lastId = field('id') ?? lastId;
    if (field('event') === 'open') {
      isOpen = true;
      setOpened();
    }
    const title = /"title":"(task-\d+)"/.exec(block)?.[1];
    if (title === undefined || heard.has(title)) return;
    heard.set(title, performance.now());
    waiting.get(title)?.(performance.now());
    waiting.delete(title);
  }

  async function follow(): Promise<void> {
    const headers = {
      Authorization: `Bearer ${token}`,
      ...(lastId !== undefined && { 'Last-Event-ID': lastId }),
    };
    const { ok, body } = await fetch(`${url}/v1/tasks/events`, { headers, signal });
    if (!ok) return;
    let text = '';
    for await (const chunk of body!.pipeThrough(
      new TextDecoderStream(),
    ) as unknown as AsyncIterable<string>) {
      const blocks = (text + chunk).split('\n\n');
      text = blocks.pop()!;
      for (const block of blocks) take(block);
    }
  }

  const keepFollowing = async () => {
    while (!signal.aborted) {
      await follow().catch(() => {});
      isOpen = false;
      for (const giveUp of waiting.values()) giveUp(undefined);
      waiting.clear();
      await new Promise(resolve => setTimeout(resolve, 100));
    }
  };
  void keepFollowing();

  return {
    heard,
    opened,
    isOpen: () => isOpen,
    hear: (title: string): Promise<number | undefined> =>
      heard.has(title)
        ? Promise.resolve(heard.get(title))
        : isOpen
          ? new Promise(resolve => waiting.set(title, resolve))
          : Promise.resolve(undefined),
  };
}
