import type { Fixture, Load, Violation } from './fixture.ts';

// Events from a sender that repeats what got no answer, with an id. Each is stored once and delivered once to each of
// three destinations, unless the server died that had sent it or the answer of the destination was lost: then it comes
// again, with the same id. One connection is in order.

const connections = 3;
const ordered = 2;
const recordedWithinMs = 30_000; // after an attempt has begun, on a store that fails
const clearlyLaterMs = 3_000; // clocks differ

type Visit = { node: string; eventId: string; n: string; atMs: number; status: number | 'lost' };
type Stored = { connectionId: string; state: string; attempts: number };

export async function createWebhooksLoad(fixture: Fixture): Promise<Load> {
  const { call, make, random, pick, destinations, nowMs, below } = fixture;
  const { sourceId } = await make('POST', '/v1/sources', {
    send: { name: 'S', dedupeHeader: 'x-event-id' },
    key: 'source',
  });
  const visits: Visit[][] = [];
  const connectionIds: string[] = [];
  for (let i = 0; i < connections; i++) {
    const seen: Visit[] = [];
    visits.push(seen);
    destinations.set(`hook${i}.example`, ({ node, headers, body }) => {
      const chance = fixture.isHealed() ? 0 : random();
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
      seen.push({ node, eventId: headers.get('webhook-id') ?? '', n, atMs: nowMs(), status });
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

  type Sent = { eventId: string; sentMs: number; answeredMs: number; replays: number };
  const accepted = new Map<string, Sent>();
  const wrong: Violation[] = [];
  let sent = 0;
  const post = (n: string) =>
    make('POST', `/in/${sourceId}`, { send: { n }, headers: { 'x-event-id': n }, isRepeatable: true });
  // Some senders do not wait for the answer before they repeat.
  const send = async () => {
    const n = `event-${++sent}.`;
    const sentMs = nowMs();
    const [{ eventId }, again] = await Promise.all([post(n), random() < 0.15 ? post(n) : undefined]);
    if (again && again.eventId !== eventId)
      wrong.push({
        what: `${n} was accepted as ${eventId} and as ${again.eventId}`,
        about: [n],
        isFinal: true,
      });
    accepted.set(n, { eventId, sentMs, answeredMs: nowMs(), replays: 0 });
  };

  // Two people deliver an event again at the same time, each once.
  const replay = async () => {
    const [n, event] = pick([...accepted]) ?? [];
    if (!event || event.replays > 0) return;
    const { status, body } = await call('GET', `/v1/events/${event.eventId}`);
    if (status !== 200 || body.status !== 'delivered') return;
    const key = `replay-${n}`;
    event.replays = 1;
    const ask = () => make('POST', `/v1/events/${event.eventId}/replay`, { send: {}, key });
    await Promise.all([ask(), ask()]);
  };

  // The server that made the request did not live, or was not awake, to write down what came of it.
  const isUnrecorded = ({ node, atMs }: Visit): boolean => fixture.hasFailed(node, atMs, recordedWithinMs);

  function checkVisits(
    i: number,
    of: readonly Visit[],
    eventId: string,
    { deliveries, replays }: { deliveries: readonly Stored[]; replays: number },
  ): Violation[] {
    const about = [eventId, ...of.slice(0, 1).map(({ n }) => n)];
    const found: Violation[] = [];
    const runs = deliveries.filter(one => one.connectionId === connectionIds[i]);
    const unfinished = runs.find(({ state }) => state !== 'delivered');
    if (unfinished || runs.length !== 1 + replays) {
      const what = `${eventId} has ${runs.length} of ${1 + replays} deliveries to destination ${i}, ${unfinished?.state ?? 'done'}`;
      found.push({ what, about });
      return found;
    }
    // A request is not recorded if its server died before it could.
    const unrecorded = of.filter(isUnrecorded).length;
    const attempts = runs.reduce((sum, one) => sum + one.attempts, 0);
    if (attempts > of.length || attempts < of.length - unrecorded)
      found.push({
        what: `${eventId} has ${attempts} attempts, and destination ${i} saw ${of.length}`,
        about,
      });
    // Each delivery ends with the visit that succeeds, unless nobody wrote that down.
    const taken = of.filter(({ status }) => status === 200);
    if (taken.length < runs.length)
      found.push({
        what: `${eventId} was delivered ${runs.length} times, and destination ${i} took it ${taken.length} times`,
        about,
      });
    const recorded = taken.filter(one => !isUnrecorded(one));
    const last = of.at(-1);
    if (
      recorded.length > runs.length ||
      (recorded.length === runs.length && last !== undefined && last.status !== 200)
    )
      found.push({
        what: `${eventId} came to destination ${i} again: ${of.map(({ node, atMs, status }) => `${node} at ${atMs - of[0]!.atMs} ms, ${status}`).join('; ')}`,
        about,
        isFinal: true,
      });
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
          found.push({
            what: `${later} came before ${n} where order is kept`,
            about: [n, later],
            isFinal: true,
          });
    return found;
  }

  return {
    name: 'webhooks',
    users: [send, send, replay],
    async check() {
      const found: Violation[] = [...wrong];
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
      for (const { eventId, replays } of accepted.values()) {
        const { body } = await call('GET', `/v1/events/${eventId}`);
        for (const [i, seen] of visits.entries()) {
          const ofEvent = seen.filter(one => one.eventId === eventId);
          found.push(...checkVisits(i, ofEvent, eventId, { deliveries: body.deliveries, replays }));
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
