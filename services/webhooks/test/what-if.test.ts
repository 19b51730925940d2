import { seededRandom } from '@stak/kit';
import { expect, it } from 'vitest';
import { openDestination } from './destination.ts';
import { type Fixture, openWebhooks, until } from './webhooks-fixture.ts';

type Rules = { filters?: object[]; transform?: object };
type Outcome = { result: string; body?: string; reason?: string };
type Difference = { eventId: string; before: Outcome; after: Outcome };

const paid = { field: 'body', path: '$.type', operator: 'equals', value: 'paid' };
const total = { type: 'field_map', fields: [{ to: '$.total', from: '$.amount' }] };
const script = (code: string) => ({
  type: 'javascript',
  code: `function transform({ body }) { ${code} }`,
});
const textOf = ({ body }: Outcome) => body && Buffer.from(body, 'base64').toString();

const ask = (hooks: Fixture, sourceId: string, send: object, as?: string) =>
  hooks.post(`/v1/sources/${sourceId}/whatif`, send, as);

async function allPages(hooks: Fixture, sourceId: string, send: object & { cursor?: string }) {
  const pages = [];
  for (let { cursor } = send; ; ) {
    const page = await ask(hooks, sourceId, { ...send, cursor });
    pages.push(page);
    if (page.next_cursor === null) return pages;
    cursor = page.next_cursor;
  }
}

it('says which events other rules would send otherwise, with both bodies, and sends nothing', async () => {
  const hooks = await openWebhooks();
  const destination = await openDestination();
  const sourceId = await hooks.source();
  const connectionId = await hooks.connect(sourceId, destination.url, { filters: [paid] });
  const first = await hooks.send(sourceId, '{"type":"paid","amount":7}');
  const second = await hooks.send(sourceId, '{"type":"open","amount":8}');
  const third = await hooks.send(sourceId, 'not JSON');
  await until(() => destination.hits.length === 1);

  const page = await ask(hooks, sourceId, { connectionId, transform: total });
  expect(page).toMatchObject({
    events: 3,
    before: { sent: 1, filtered: 2, dropped: 0, failed: 0 },
    after: { sent: 2, filtered: 0, dropped: 0, failed: 1 },
    next_cursor: null,
  });
  const [paidEvent, openEvent, noJson] = page.data;
  expect(page.data.map(({ eventId }: Difference) => eventId)).toEqual([first, second, third]);
  expect([textOf(paidEvent.before), textOf(paidEvent.after)]).toEqual([
    '{"type":"paid","amount":7}',
    '{"total":7}',
  ]);
  expect([openEvent.before, textOf(openEvent.after)]).toEqual([{ result: 'filtered' }, '{"total":8}']);
  expect(noJson.after).toMatchObject({ result: 'failed', reason: 'not_json' });

  expect((await ask(hooks, sourceId, { connectionId, filters: [paid] })).data).toEqual([]);
  expect(await ask(hooks, sourceId, { transform: script('return null') })).toMatchObject({
    before: { sent: 3 },
    after: { dropped: 3 },
  });
  expect(destination.hits).toHaveLength(1);
});

it('continues where a page ended, up to the moment of the first page', async () => {
  const hooks = await openWebhooks();
  const sourceId = await hooks.source();
  const sent: string[] = [];
  for (let n = 0; n < 7; n++) {
    sent.push(await hooks.send(sourceId, `{"n":${n}}`));
    await hooks.clock.advance(10);
  }
  const transform = script('return { seen: true }');
  const limited = { transform, limit: 3 };
  const begun = await ask(hooks, sourceId, limited);
  await hooks.clock.advance(10);
  await hooks.send(sourceId, '{"n":"late"}');
  const rest = await allPages(hooks, sourceId, { ...limited, cursor: begun.next_cursor });
  const pages = [begun, ...rest];
  expect(pages.map(({ events }) => events)).toEqual([3, 3, 1]);
  expect(pages.flatMap(({ data }) => data.map(({ eventId }: Difference) => eventId))).toEqual(sent);

  const elsewhere = await hooks.source();
  const send = { ...limited, cursor: begun.next_cursor };
  const refused = await hooks.call(`/v1/sources/${elsewhere}/whatif`, { method: 'POST', send });
  expect(refused.status).toBe(400);

  const range = {
    from: new Date(hooks.clock.now() - 45).toISOString(),
    to: new Date(hooks.clock.now() - 25).toISOString(),
  };
  const [part] = await allPages(hooks, sourceId, { ...limited, ...range });
  expect(part.data.map(({ eventId }: Difference) => eventId)).toEqual(sent.slice(4, 6));
});

it('is for the owner of the source, and for connections of it', async () => {
  const hooks = await openWebhooks();
  const destination = await openDestination();
  const sourceId = await hooks.source();
  const other = await hooks.connect(await hooks.source(), destination.url);
  const statusOf = async (send: object, as?: string) =>
    (await hooks.call(`/v1/sources/${sourceId}/whatif`, { method: 'POST', send, as })).status;
  expect(await statusOf({}, 'bob')).toBe(404);
  expect(await statusOf({ connectionId: other })).toBe(404);
  expect(await statusOf({ cursor: 'forged' })).toBe(400);
  expect(await statusOf({ filters: [{ ...paid, path: '$[' }] })).toBe(400);
});

// A server that has the new rules from the beginning is the oracle.
const sets: Rules[] = [
  {},
  { filters: [paid] },
  { transform: total },
  { filters: [paid], transform: total },
  { transform: script('if (JSON.parse(body).amount > 50) throw new Error("much"); return { fine: true };') },
  { transform: script('return JSON.parse(body).amount % 2 ? null : JSON.parse(body);') },
];

it.each(sets.map((rules, n) => [n, rules] as const))(
  'says what a server does that has the rules: set %i',
  async (n, rules) => {
    const random = seededRandom(n);
    const bodies = Array.from({ length: 12 }, (_, at) => {
      const type = random() < 0.5 ? 'paid' : 'open';
      return random() < 0.15
        ? `text ${at}`
        : JSON.stringify({ type, amount: Math.floor(random() * 100), at });
    });
    const before = sets[(n + 1) % sets.length]!;
    const [planned, fresh] = [await openWebhooks(), await openWebhooks()];
    const destination = await openDestination();
    const sourceId = await planned.source();
    const connectionId = await planned.connect(sourceId, destination.url, before);
    for (const body of bodies) await planned.send(sourceId, body);
    const { after, data } = await ask(planned, sourceId, { connectionId, ...rules });

    const target = await openDestination();
    const freshSource = await fresh.source();
    await fresh.connect(freshSource, target.url, { ...rules, retryConfig: { delaysS: [] } });
    const counts = { sent: 0, withheld: 0, failed: 0 };
    const received = new Map<string, string | undefined>();
    for (const body of bodies) {
      const eventId = await fresh.send(freshSource, body);
      const stateOf = async () => (await fresh.read(`/v1/events/${eventId}`)).deliveries[0].state;
      const hitsBefore = target.hits.length;
      await until(async () => !['pending', 'retrying'].includes(await stateOf()));
      const results = { delivered: 'sent', filtered: 'withheld', failed: 'failed' } as const;
      counts[results[(await stateOf()) as keyof typeof results]] += 1;
      received.set(body, target.hits[hitsBefore]?.body.toString());
    }
    const { sent, filtered, dropped, failed } = after;
    expect({ sent, withheld: filtered + dropped, failed }).toEqual(counts);
    for (const difference of data as Difference[]) {
      const body = await (await planned.call(`/v1/events/${difference.eventId}/body`)).text();
      expect(textOf(difference.after)).toBe(received.get(body));
    }
  },
);
