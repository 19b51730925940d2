import assert from 'node:assert/strict';

// Writes to a server, notes what it acknowledged, and compares everything that the server has with the notes.

export type Kind = 'task' | 'message' | 'event';
type Entry = { kind: Kind; label: string; id: string };
type Customer = { key: string; source: string };

export type Ledger = {
  customer: Customer;
  entries: Map<string, Entry>; // acknowledged, by label
  unanswered: Map<string, Kind>; // asked for, with an answer that never came
  refused: number;
  unreached: number; // connections that nobody accepted: nothing was asked
};

const kinds: readonly Kind[] = ['task', 'message', 'event'];
const users = '/v1/tenants/acme/inboxes/main/users/ann';
const payload = (label: string) => `{"label":"${label}","text":"äöü ✓ ${'x'.repeat(200)}"}`;

async function send(url: string, path: string, key: string | undefined, body?: string, method = 'POST') {
  const answer = await fetch(url + path, {
    method: body === undefined ? 'GET' : method,
    headers: {
      connection: 'close', // so that no request goes to a server that was killed
      'content-type': 'application/json',
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
    },
    ...(body !== undefined && { body }),
    signal: AbortSignal.timeout(60_000),
  });
  return { status: answer.status, text: await answer.text() };
}

async function sendWell(...args: Parameters<typeof send>): Promise<Record<string, string>> {
  const { status, text } = await send(...args);
  if (status >= 300) throw new Error(`${args[1]}: ${status} ${text}`);
  return JSON.parse(text) as Record<string, string>;
}

/** Signs up, and makes what entries need. */
export async function openLedger(url: string): Promise<Ledger> {
  const person = { email: 'ops@example.com', password: 'a long enough password', name: 'Ops', cookie: false };
  const { access_token } = await sendWell(url, '/v1/auth/signup', undefined, JSON.stringify(person));
  const request = JSON.stringify({ name: 'operator', permissions: 'admin' });
  const { key } = await sendWell(url, '/v1/api-keys', access_token, request);
  const tenant = JSON.stringify({ tenant_id: 'acme', name: 'Acme', status: 'active' });
  await sendWell(url, '/v1/tenants', key, tenant);
  await sendWell(url, '/v1/tenants/acme/users', key, '{"user_id":"ann","display_name":"Ann"}');
  await sendWell(url, '/v1/tenants/acme/inboxes/main', key, '{"title":"Main"}', 'PUT');
  const { sourceId } = await sendWell(url, '/v1/sources', key, '{"name":"orders"}');
  const customer = { key: key!, source: sourceId! };
  return { customer, entries: new Map(), unanswered: new Map(), refused: 0, unreached: 0 };
}

/** Copies the ledger as it is now, for a moment to come back to. */
export const copyOf = (ledger: Ledger): Ledger => ({
  ...ledger,
  entries: new Map(ledger.entries),
  unanswered: new Map(ledger.unanswered),
});

function ask(url: string, { key, source }: Customer, kind: Kind, label: string) {
  if (kind === 'task') return send(url, '/v1/tasks', key, JSON.stringify({ title: label }));
  if (kind === 'event') return send(url, `/in/${source}`, undefined, payload(label));
  const message = { uids: ['ann'], message: { title: label, body: payload(label) } };
  return send(url, '/v1/tenants/acme/inboxes/main/messages', key, JSON.stringify(message));
}

const idOf = (text: string): string => {
  const { task_id, eventId, id } = JSON.parse(text) as Record<string, string>;
  return (task_id ?? eventId ?? id)!;
};

const isUnreached = (error: Error): boolean =>
  (error.cause as NodeJS.ErrnoException | undefined)?.code === 'ECONNREFUSED';

/**
 * Makes one entry. A server that ends meanwhile leaves it unanswered. One that refuses it says so, and it is not there;
 * neither is it where no server accepted the connection.
 */
export async function write(url: string, ledger: Ledger, kind: Kind, label: string): Promise<number> {
  const answer = await ask(url, ledger.customer, kind, label).catch((error: Error) => error);
  if (answer instanceof Error) {
    if (isUnreached(answer)) ledger.unreached += 1;
    else ledger.unanswered.set(label, kind);
    return 0;
  }
  if (answer.status < 300) ledger.entries.set(label, { kind, label, id: idOf(answer.text) });
  else ledger.refused += 1;
  return answer.status;
}

let written = 0;

/** Makes some entries of every kind, a few at a time; all of them have to be accepted. */
export async function writeSome(url: string, ledger: Ledger, title: string, count = 20): Promise<void> {
  const labels = kinds.flatMap(kind =>
    Array.from({ length: count }, () => [kind, `${title} ${++written}`] as const),
  );
  const writer = async () => {
    for (let next = labels.pop(); next; next = labels.pop()) {
      const status = await write(url, ledger, ...next);
      assert.ok(status >= 200 && status < 300, `${next.join(' ')} got ${status}`);
    }
  };
  await Promise.all([writer(), writer(), writer(), writer()]);
}

export type Writers = { stop(): Promise<{ slowestMs: number }> };

/** Writes steadily until it is stopped. What is refused meanwhile is counted. */
export function writeSteadily(url: string, ledger: Ledger, title: string, count = 4): Writers {
  let isOver = false;
  let acceptedAtMs = performance.now();
  let slowestMs = 0; // the longest time without an accepted write
  const writer = async (number: number) => {
    for (let count = number; !isOver; count++) {
      const status = await write(url, ledger, kinds[count % kinds.length]!, `${title} ${++written}`);
      if (status >= 200 && status < 300) {
        slowestMs = Math.max(slowestMs, performance.now() - acceptedAtMs);
        acceptedAtMs = performance.now();
      } else await new Promise(resolve => setTimeout(resolve, 20));
    }
  };
  const all = Array.from({ length: count }, (_, number) => writer(number));
  return {
    async stop() {
      isOver = true;
      await Promise.all(all);
      return { slowestMs };
    },
  };
}

async function readPages(url: string, path: string, key: string): Promise<Record<string, unknown>[]> {
  const rows: Record<string, unknown>[] = [];
  let cursor: string | null = null;
  do {
    const query: string = `limit=100${cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`}`;
    const page = (await sendWell(url, `${path}?${query}`, key)) as unknown as {
      data: Record<string, unknown>[];
      next_cursor: string | null;
    };
    rows.push(...page.data);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return rows;
}

async function readAll(url: string, { key, source }: Customer): Promise<Entry[]> {
  const tasks = await readPages(url, '/v1/tasks', key);
  const messages = await readPages(url, `${users}/messages`, key);
  const events = await readPages(url, `/v1/sources/${source}/events`, key);
  const found: Entry[] = tasks.map(one => ({
    kind: 'task',
    label: String(one.title),
    id: String(one.task_id),
  }));
  for (const one of messages) {
    const { title, body } = one.message as { title: string; body: string };
    assert.equal(body, payload(title), `the text of the message ${title}`);
    found.push({ kind: 'message', label: title, id: String(one.id) });
  }
  for (const one of events) {
    const { text } = await send(url, `/v1/events/${String(one.eventId)}/body`, key);
    const { label } = JSON.parse(text) as { label: string };
    assert.equal(text, payload(label), `the body of the event ${label}`);
    found.push({ kind: 'event', label, id: String(one.eventId) });
  }
  const { total } = (await sendWell(url, `${users}/counts`, key)) as unknown as { total: number };
  assert.equal(total, messages.length, 'the count of the inbox');
  return found;
}

/**
 * Compares everything that the server has with the ledger: what was acknowledged is there as it was, once, and nothing
 * else but requests without an answer. From then on those that are there count as acknowledged.
 */
export async function verify(url: string, ledger: Ledger): Promise<string> {
  const found = await readAll(url, ledger.customer);
  const byLabel = new Map(found.map(entry => [entry.label, entry]));
  assert.equal(byLabel.size, found.length, 'nothing is there twice');
  for (const [label, kind] of ledger.unanswered) {
    const entry = byLabel.get(label);
    if (entry?.kind === kind) ledger.entries.set(label, entry);
  }
  ledger.unanswered.clear();
  const order = (entries: Iterable<Entry>) =>
    [...entries].map(({ kind, label, id }) => `${kind} ${label} ${id}`).sort();
  assert.deepEqual(order(found), order(ledger.entries.values()));
  return `${found.length} tasks, messages and events are exactly those that were acknowledged`;
}
