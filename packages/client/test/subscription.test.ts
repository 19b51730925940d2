import fc from 'fast-check';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { createEventParser, type RawEvent } from '../src/event-stream.ts';
import type { ServerEvent } from '../src/index.ts';
import { openClient } from './shelf-api.ts';

function parseAll(pieces: readonly string[]): { events: RawEvent[]; retries: number[] } {
  const events: RawEvent[] = [];
  const retries: number[] = [];
  const parse = createEventParser({ onEvent: one => events.push(one), onRetry: ms => retries.push(ms) });
  for (const piece of pieces) parse(piece);
  return { events, retries };
}

describe('the parser', () => {
  const text =
    ': hello\r\nretry: 2000\n\nid: 1\nevent: note\ndata: a\ndata:  b\r\rdata\n\nid: bad\0\ndata:{"x":1}\n\nevent: none\n\ndata: cut';

  it('reads a stream according to the standard', () => {
    expect(parseAll([text])).toEqual({
      retries: [2000],
      events: [
        { id: '1', event: 'note', data: 'a\n b' },
        { id: '1', event: 'message', data: '' },
        { id: '1', event: 'message', data: '{"x":1}' },
      ],
    });
  });

  it('parses it alike wherever it is split', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(text.length)), cuts => {
        const offsets = [0, ...cuts.sort((a, b) => a - b), text.length];
        const pieces = offsets.slice(1).map((end, i) => text.slice(offsets[i], end));
        expect(parseAll(pieces)).toEqual(parseAll([text]));
      }),
    );
  });

  it('refuses an endless event', () => {
    const line = `data: ${'x'.repeat(64 * 1024)}\n`;
    expect(() => parseAll(Array(100).fill(line))).toThrow('no end');
    expect(() => parseAll(Array(100).fill('x'.repeat(64 * 1024)))).toThrow('no end');
  });
});

type Note = ServerEvent<{ text: string }>;

describe('a subscription', () => {
  const settings = { random: () => 0, sleep: (ms: number, signal?: AbortSignal) => pause(ms, signal) };
  // Silence is never waited for, and a reconnection not for long.
  const pause = (ms: number, signal?: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      if (ms < 60_000) setImmediate(resolve);
      signal?.addEventListener('abort', () => reject(signal.reason));
    });

  it('yields events as they happen, and disconnects when its reader stops', async () => {
    const { api, client } = await openClient(settings);
    const opened = api.subscribed();
    const events = client.feeds.follow({ name: 'a' });
    expectTypeOf(events).toEqualTypeOf<AsyncGenerator<Note, void, undefined>>();
    const first = events.next();
    const { sink } = await opened;
    sink.send({ id: '1', event: 'note', data: { text: 'now' } });
    expect((await first).value).toEqual({ id: '1', event: 'note', data: { text: 'now' } });
    const gone = new Promise(resolve => sink.signal.addEventListener('abort', resolve));
    await events.return();
    await gone;
  });

  it('resumes after the last event it has seen', async () => {
    const { api, client } = await openClient(settings);
    const seen: unknown[] = [];
    const reading = (async () => {
      for await (const { id, data } of client.feeds.follow({ name: 'a' }, { lastEventId: '7' }))
        seen.push([id, data.text]);
    })();
    const feedOnce = async (id: string, end: (sink: { send(event: object): void }) => void) => {
      const { afterId, sink } = await api.subscribed();
      sink.send({ id, data: { text: `after ${afterId}` } } as never);
      end(sink as never);
    };
    await feedOnce('8', sink => sink.send({ event: 'end', data: { reason: 'lifetime' } }));
    await feedOnce('9', sink => sink.send({ event: 'end', data: { reason: 'slow_consumer' } }));
    await feedOnce('10', sink => sink.send({ event: 'end', data: { reason: 'done' } }));
    await reading;
    expect(seen).toEqual([
      ['8', 'after 7'],
      ['9', 'after 8'],
      ['10', 'after 9'],
    ]);
  });

  it('reconnects when the connection breaks, and when it is silent for too long', async () => {
    let connections = 0;
    const { api, client } = await openClient({
      ...settings,
      sleep: (ms, signal) => (ms === 60_000 && connections === 2 ? Promise.resolve() : pause(ms, signal)),
      fetch: async (url, init) => {
        connections += 1;
        if (connections === 1) throw new TypeError('fetch failed');
        return fetch(url, init);
      },
    });
    const events = client.feeds.follow({ name: 'a' });
    const first = events.next();
    for (let i = 0; i < 2; i++) {
      const { sink } = await api.subscribed();
      if (i === 1) sink.send({ id: '1', data: { text: 'at last' } });
    }
    expect((await first).value?.data).toEqual({ text: 'at last' });
    expect(connections).toBe(3);
    await events.return();
  });

  it('ends with a permanent error, and when the caller stops it', async () => {
    const { client } = await openClient({ ...settings, token: 'nobody' });
    await expect(client.feeds.follow({ name: 'a' }).next()).rejects.toMatchObject({ status: 401 });
    const { api, client: good } = await openClient(settings);
    const control = new AbortController();
    const waiting = good.feeds.follow({ name: 'a' }, { signal: control.signal }).next();
    await api.subscribed();
    control.abort('enough');
    await expect(waiting).rejects.toBe('enough');
  });
});
