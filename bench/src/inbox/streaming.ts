import { type Round, summarize } from '../harness.ts';
import { createCaller } from '../server/caller.ts';
import type { Customer } from '../server/customer.ts';
import { openEventStreams } from '../server/event-streams.ts';
import { keepPace, type Pace } from '../server/pace.ts';
import { draft } from './inbox.ts';
import { inboxPath, post } from './requests.ts';

export type StreamingSettings = { perSecond: number; warmUpMs: number; durationMs: number };
export type Streaming = Round & { streams: number; perSecond: number };

// From sending a publish until the message is on its user's open event stream.
export async function measureStreaming(
  url: string,
  { tenantId, apiKeys, endUsers }: Customer,
  { perSecond, warmUpMs, durationMs }: StreamingSettings,
): Promise<Streaming> {
  const waiting = new Map<string, (nowMs: number) => void>();
  const streams = await openEventStreams(
    url,
    endUsers.map(({ token }) => ({ path: `${inboxPath(tenantId)}/users/me/stream`, token })),
    /"title":"(number [a-z0-9-]+)"/g,
    title => {
      waiting.get(title)?.(performance.now());
      waiting.delete(title);
    },
  );
  const caller = createCaller(url);
  const run = async (name: string, pace: Pace): Promise<number[]> => {
    const latenciesMs: number[] = [];
    await keepPace(pace, async (turn, sentMs) => {
      const title = `number ${name}-${turn}`;
      const { userId } = endUsers[turn % endUsers.length]!;
      const seen = new Promise<number>(resolve => waiting.set(title, resolve));
      const body = { ...draft(title), uids: [userId] };
      await caller.call(post(`${inboxPath(tenantId)}/messages`, apiKeys[turn % apiKeys.length]!, body), 201);
      latenciesMs.push((await seen) - sentMs);
    });
    return latenciesMs;
  };
  try {
    await run('warm', { perSecond, durationMs: warmUpMs });
    const startMs = performance.now();
    const latenciesMs = await run('measured', { perSecond, durationMs });
    return { ...summarize(latenciesMs, performance.now() - startMs), streams: endUsers.length, perSecond };
  } finally {
    streams.close();
    caller.close();
  }
}
