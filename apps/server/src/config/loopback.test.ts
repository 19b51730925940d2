import { expect, it } from 'vitest';
import { isFromThisMachine } from './loopback.ts';

const ask = (
  host: string | undefined,
  headers = {},
  remoteAddress: string | undefined = '127.0.0.1',
  localPort = 8787,
) => isFromThisMachine({ headers: { host, ...headers }, socket: { remoteAddress, localPort } });

it('recognises a request from this machine', () => {
  for (const host of ['127.0.0.1:8787', 'localhost:8787', 'LOCALHOST:8787', '[::1]:8787', '127.9.9.9:8787'])
    expect(ask(host), host).toBe(true);
  for (const peer of ['::1', '::ffff:127.0.0.1', '127.1.2.3'])
    expect(ask('localhost:8787', {}, peer), peer).toBe(true);
  expect(ask('localhost', {}, '127.0.0.1', 80)).toBe(true);
});

it('refuses any other name, port or peer, and requests through a proxy', () => {
  for (const host of [
    undefined,
    '',
    'stak.example.com:8787',
    'localhost.example.com:8787',
    '127.0.0.1.example.com:8787',
    '127.0.0.1',
    'localhost:80',
    'localhost:8788',
    'localhost:8787@example.com',
    '[::1]:8787:1',
  ])
    expect(ask(host), host).toBe(false);
  for (const peer of ['192.0.2.1', '::ffff:192.0.2.1', '2001:db8::1', ''])
    expect(ask('localhost:8787', {}, peer), peer).toBe(false);
  for (const name of [
    'forwarded',
    'via',
    'x-real-ip',
    'x-forwarded-for',
    'x-forwarded-proto',
    'x-forwarded-anything',
  ])
    expect(ask('localhost:8787', { [name]: '' }), name).toBe(false);
  expect(isFromThisMachine(undefined)).toBe(false);
});
