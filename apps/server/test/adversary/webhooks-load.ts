import type { Fixture, Load, Violation } from './fixture.ts';

// Events from a sender that repeats what got no answer, with an id. Each is stored once and delivered once to each of
// three destinations, unless the server died that had sent it or the answer of the destination was lost: then it comes
// again, with the same id. One connection is in order.

const connections = 3;
const ordered = 2;
const recordedWithinMs = 30_000; // after an attempt has begun, on a store that fails
const clearlyLaterMs = 3_000; // clocks differ

type Visit = { eventId: string; n: string; atMs: number; status: number | 'lost' };
type Stored = { connectionId: string; state: string; attempts: number };

export async function createWebhooksLoad(fixture: Fixture): Promise<Load> {
  const { call, make, random, destinations, nowMs, below } = fixture;
  const { sourceId } = await make('POST', '/v1/sources', {
    send: { name: 'S', dedupeHeader: 'x-event-id' },
    key: 'source',
  });
  const visits: Visit[][] = [];
  const connectionIds: string[] = [];
  for (let i = 0; i < connections; i++) {
    const seen: Visit[] = [];
    visits.push(seen);
    destinations.set(`hook${i}.example`, ({ headers, body }) => {
      const chance = random();
      const answer =
        chance < 0.7
          ? { status: 200 }
          : chance < 0.85
            ? { status: 500 }
            : chance < 0.92
              ? { status: 200, isLost: true }
              : { status: 200, afterMs: 500 + below(6_000) };
      const { n } = JSON.parse(body) as { n: string };
      const status = answer.isLost ? 'lost' : answer.status;
      seen.push({ eventId: headers.get('webhook-id') ?? '', n, atMs: nowMs(), status });
      return answer;
    });
    const made = await make('POST', `/v1/sources/${sourceId}/connections`, {
      send: {
        name: `${i}`,
        destinationUrl: `https://hook${i}.example/in`,
        ordered: i === ordered,
        retryConfig: { delaysS: [1, 1, 2, 2, 3, 3, 5] },
      },
      key: `connection-${i}`,
    });
    connectionIds.push(made.connectionId);
  }

  const accepted = new Map<string, { eventId: string; sentMs: number; answeredMs: number }>();
  let sent = 0;
  const send = async () => {
    const n = `event-${++sent}.`;
    const sentMs = nowMs();
    const { eventId } = await make('POST', `/in/${sourceId}`, { send: { n }, headers: { 'x-event-id': n } });
    accepted.set(n, { eventId, sentMs, answeredMs: nowMs() });
  };

  const hasDiedAfter = (atMs: number): number =>
    fixture.deaths().filter(deathMs => deathMs >= atMs && deathMs < atMs + recordedWithinMs).length;

  function checkVisits(
    i: number,
    of: readonly Visit[],
    eventId: string,
    deliveries: readonly Stored[],
  ): Violation[] {
    const about = [eventId, ...of.slice(0, 1).map(({ n }) => n)];
    const found: Violation[] = [];
    const stored = deliveries.find(one => one.connectionId === connectionIds[i]);
    if (stored?.state !== 'delivered') {
      found.push({ what: `${eventId} is ${stored?.state} at destination ${i}`, about });
      return found;
    }
    // A request is not recorded if its server died before it could.
    const unrecorded = of.filter(({ atMs }) => hasDiedAfter(atMs) > 0).length;
    const { attempts } = stored;
    if (attempts > of.length || attempts < of.length - unrecorded)
      found.push({
        what: `${eventId} has ${attempts} attempts, and destination ${i} saw ${of.length}`,
        about,
      });
    const first = of.findIndex(({ status }) => status === 200);
    if (first === -1)
      found.push({ what: `${eventId} is delivered, and destination ${i} never took it`, about });
    for (const repeat of first === -1 ? [] : of.slice(first + 1)) {
      const success = of[first]!;
      if (hasDiedAfter(success.atMs) === 0)
        found.push({
          what: `${eventId} came to destination ${i} again at ${repeat.atMs - success.atMs} ms after it took it`,
          about,
        });
    }
    return found;
  }

  function checkOrder(): Violation[] {
    const found: Violation[] = [];
    const firsts = new Map<string, number>();
    for (const { n, atMs, status } of visits[ordered]!)
      if (status === 200 && !firsts.has(n)) firsts.set(n, atMs);
    const all = [...accepted];
    for (const [n, { answeredMs }] of all)
      for (const [later, { sentMs }] of all)
        if (sentMs > answeredMs + clearlyLaterMs && firsts.get(later)! < firsts.get(n)!)
          found.push({ what: `${later} came before ${n} where order is kept`, about: [n, later] });
    return found;
  }

  return {
    name: 'webhooks',
    users: [send, send],
    async check() {
      const found: Violation[] = [];
      const listed = await fixture.list<{ eventId: string; status: string }>(
        `/v1/sources/${sourceId}/events`,
      );
      const ids = new Set(listed.map(({ eventId }) => eventId));
      const wrongCount = (what: string, counted: number) => {
        if (counted !== accepted.size)
          found.push({ what: `${what} is ${counted} of ${accepted.size} events`, about: ['counts'] });
      };
      wrongCount('the list of events', listed.length);
      for (const [n, { eventId }] of accepted)
        if (!ids.has(eventId))
          found.push({ what: `${n} was accepted as ${eventId}, and is lost`, about: [n] });
      for (const { eventId, status } of listed)
        if (status !== 'delivered') found.push({ what: `${eventId} is ${status}`, about: [eventId] });
      if (found.length > 0) return found; // the rest follows from it
      for (const eventId of ids) {
        const { body } = await call('GET', `/v1/events/${eventId}`);
        for (const [i, seen] of visits.entries()) {
          const ofEvent = seen.filter(one => one.eventId === eventId);
          found.push(...checkVisits(i, ofEvent, eventId, body.deliveries));
        }
      }
      found.push(...checkOrder());
      const { body: usage } = await call('GET', '/v1/usage');
      wrongCount('usage', usage.usageThisMonth);
      const { body: analytics } = await call('GET', '/v1/webhook-analytics');
      wrongCount('the count of the day', analytics.received);
      wrongCount('the count of what was delivered', analytics.statuses.delivered);
      const { body: counted } = await call('GET', `/v1/sources/${sourceId}`);
      wrongCount('the count of the source', counted.eventCount);
      return found;
    },
  };
}
