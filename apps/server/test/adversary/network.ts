import type { Random } from '@stak/kit';
import type { HeaderPair, Outbound, OutboundRequest, OutboundResult } from '@stak/outbound';

// Destinations without sockets: functions, which answer after a while, or whose answer is lost.

type Arrival = { node: string; url: string; headers: ReadonlyMap<string, string>; body: string };
type Answer = { status: number; body?: string; isLost?: boolean; afterMs?: number };
export type Destination = (arrival: Arrival) => Answer;

type Clock = { now(): number; sleep(ms: number, signal?: AbortSignal): Promise<void> };
type Deps = {
  node: string; // that sends
  destinations: ReadonlyMap<string, Destination>; // by host
  clock: Clock; // of the node that sends
  random: Random;
  note(line: string): void;
};

const mostMs = 30_000; // until a request is given up

export function createNetwork({ node, destinations, clock, random, note }: Deps): Outbound {
  async function exchange({ url, headers = [], body }: OutboundRequest): Promise<Answer> {
    await clock.sleep(1 + random() * 30);
    const destination = destinations.get(new URL(url).host);
    if (!destination) return { status: 404 };
    const answer = destination({ node, url, headers: named(headers), body: textOf(body) });
    note(
      `send ${node} ${url} ${named(headers).get('webhook-id') ?? ''} ${answer.isLost ? 'lost' : answer.status}`,
    );
    await clock.sleep(answer.afterMs ?? 1 + random() * 30);
    return answer;
  }

  return {
    async send(request): Promise<OutboundResult> {
      const startedMs = clock.now();
      const timeoutMs = request.timeoutMs ?? mostMs;
      const answer = await Promise.race([
        exchange(request),
        clock.sleep(timeoutMs, request.signal).then(
          () => 'timeout' as const,
          () => 'aborted' as const,
        ),
      ]);
      const latencyMs = Math.max(0, clock.now() - startedMs);
      const address = '192.0.2.1';
      if (typeof answer === 'string')
        return { ok: false, reason: answer, message: answer, latencyMs, isSent: true };
      if (answer.isLost)
        return { ok: false, reason: 'reset', message: 'socket hang up', latencyMs, address, isSent: true };
      return {
        ok: true,
        status: answer.status,
        headers: [],
        body: new TextEncoder().encode(answer.body ?? ''),
        truncated: false,
        latencyMs,
        address,
      };
    },
    check: () => undefined,
    close: async () => {},
  };
}

const named = (headers: readonly HeaderPair[]) =>
  new Map(headers.map(([name, value]) => [name.toLowerCase(), value]));
const textOf = (body: Uint8Array | string | undefined): string =>
  typeof body === 'string' ? body : new TextDecoder().decode(body);
