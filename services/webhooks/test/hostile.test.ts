import { createHmac } from 'node:crypto';
import { connect } from 'node:net';
import { listen } from '@stak/http';
import { createLogger } from '@stak/kit';
import { describe, expect, it, onTestFinished } from 'vitest';
import * as limits from '../src/limits.ts';
import { openDestination } from './destination.ts';
import { type Fixture, openWebhooks, until } from './webhooks-fixture.ts';

async function serve(hooks: Fixture) {
  const log = createLogger({ level: 'silent' });
  const listening = await listen(hooks.api, { port: 0, clock: hooks.clock, log, drainMs: 1 });
  onTestFinished(async () => {
    const closing = listening.close();
    await hooks.clock.advance(10);
    await closing;
  });
  return listening.port;
}

// Sends bytes that no client library would send. Returns the response when the server closes the connection.
function exchange(port: number, text: string, { hangUp = false } = {}): Promise<string> {
  return new Promise(resolve => {
    let received = '';
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(text);
      if (hangUp) setImmediate(() => socket.destroy());
    });
    socket.on('data', data => {
      received += data.toString('latin1');
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(received));
  });
}

const head = (target: string, ...more: string[]) =>
  [`POST /in/${target} HTTP/1.1`, 'Host: hooks.example', ...more, '', ''].join('\r\n');
const listed = async (hooks: Fixture, sourceId: string) =>
  (await hooks.read(`/v1/sources/${sourceId}/events`)).data;

describe('a hostile sender', () => {
  it('that disconnects midway leaves nothing behind', async () => {
    const hooks = await openWebhooks();
    const sourceId = await hooks.source();
    const port = await serve(hooks);
    await exchange(port, `${head(sourceId, 'Content-Length: 100')}half of it`, { hangUp: true });
    await exchange(port, `${head(sourceId, 'Transfer-Encoding: chunked')}5\r\nhello\r\n`, { hangUp: true });
    expect(await listed(hooks, sourceId)).toEqual([]);
  });

  it.each([
    ['more than it says', 'Content-Length: 2', '{}{"smuggled":1}'],
    ['a length that is not a number', 'Content-Length: two', '{}'],
    ['a length below zero', 'Content-Length: -1', '{}'],
    ['two lengths', 'Content-Length: 2\r\nContent-Length: 3', '{}'],
    ['a length and chunks', 'Content-Length: 2\r\nTransfer-Encoding: chunked', '{}'],
  ])('that sends %s has at most the announced length stored', async (_, header, body) => {
    const hooks = await openWebhooks();
    const sourceId = await hooks.source();
    const port = await serve(hooks);
    await exchange(port, head(sourceId, 'Connection: close', header) + body);
    for (const one of await listed(hooks, sourceId)) expect(one.size).toBeLessThanOrEqual(2);
  });

  it('that trickles its body is cut off, and others are served meanwhile', async () => {
    const hooks = await openWebhooks();
    const destination = await openDestination();
    const sourceId = await hooks.source();
    await hooks.connect(sourceId, destination.url);
    const port = await serve(hooks);
    const trickling = exchange(port, `${head(sourceId, 'Content-Length: 100')}{`);
    const quick = await exchange(port, `${head(sourceId, 'Connection: close', 'Content-Length: 2')}{}`);
    expect(quick).toContain('HTTP/1.1 200');
    await until(() => destination.hits.length === 1);
    await hooks.clock.advance(15_000);
    expect(await trickling).toContain('HTTP/1.1 408');
    expect(await listed(hooks, sourceId)).toHaveLength(1);
  });

  it('that sends too many or odd headers is refused or stored exactly', async () => {
    const hooks = await openWebhooks();
    const sourceId = await hooks.source();
    const port = await serve(hooks);
    const many = Array.from({ length: 150 }, (_, i) => `X-${i}: v`);
    const length = ['Connection: close', 'Content-Length: 2'];
    expect(await exchange(port, `${head(sourceId, ...length, ...many)}{}`)).toContain('HTTP/1.1 431');
    const long = `X-Long: ${'a'.repeat(20_000)}`;
    expect(await exchange(port, `${head(sourceId, ...length, long)}{}`)).toContain('HTTP/1.1 431');
    const odd = ['X-Dup: 1', 'x-dup: 2', 'X-Proto: __proto__', '__proto__: x', 'Content-Encoding: gzip'];
    expect(await exchange(port, `${head(sourceId, ...length, ...odd)}{}`)).toContain('HTTP/1.1 200');
    const [event] = await listed(hooks, sourceId);
    const { headers } = await hooks.read(`/v1/events/${event.eventId}`);
    for (const line of odd) expect(headers).toContainEqual(line.split(': '));
    const names = headers.map(([name]: [string]) => name);
    expect(names.indexOf('X-Dup')).toBeLessThan(names.indexOf('x-dup'));
  });

  it('that sends an odd query has it stored exactly, and verified as it was signed', async () => {
    const hooks = await openWebhooks();
    const sourceId = await hooks.source({ provider: 'twilio', signingSecret: 'secret' });
    const port = await serve(hooks);
    const query = `a='b'&c="d"&e=<f>&g=%zz&h=%00&i=j+k?l&m=`;
    const { ingestUrl } = await hooks.read(`/v1/sources/${sourceId}`);
    const signature = createHmac('sha1', 'secret').update(`${ingestUrl}?${query}`).digest('base64');
    const signed = ['Connection: close', `X-Twilio-Signature: ${signature}`];
    expect(await exchange(port, head(`${sourceId}?${query}`, ...signed))).toContain('HTTP/1.1 200');
    expect(await listed(hooks, sourceId)).toMatchObject([{ query }]);
  });

  it.each(['"', '#'])('that sends a query of %s is refused if no destination could take it', async char => {
    const hooks = await openWebhooks();
    const destination = await openDestination();
    const sourceId = await hooks.source();
    await hooks.connect(sourceId, destination.url);
    const port = await serve(hooks);
    // Each becomes three characters in the address of a destination.
    const send = (chars: number) =>
      exchange(port, head(`${sourceId}?${char.repeat(chars)}`, 'Connection: close'));
    expect(await send(limits.queryChars / 2)).toContain('HTTP/1.1 431');
    expect(await send(Math.floor(limits.queryChars / 3))).toContain('HTTP/1.1 200');
    await until(() => destination.hits.length === 1);
  });
});
