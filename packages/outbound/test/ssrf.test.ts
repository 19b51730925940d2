import net from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import { createOutbound, type OutboundSettings } from '../src/index.ts';
import { createDnsResolver } from '../src/resolver.ts';
import { openOutbound, startServer } from './destinations.ts';
import { blockedLiterals, blockedNames, blockedPorts, invalidUrls, names } from './ssrf-corpus.ts';

const localhost = createDnsResolver();
const resolver = async (hostname: string) => names[hostname] ?? localhost(hostname);

async function sendWithoutConnecting(url: string, settings: OutboundSettings = {}) {
  const connect = vi.spyOn(net.Socket.prototype, 'connect');
  const outbound = createOutbound({ resolver, ...settings });
  try {
    const result = await outbound.send({ url, method: 'POST', body: '{}' });
    expect(connect).not.toHaveBeenCalled();
    return result;
  } finally {
    connect.mockRestore();
    await outbound.close();
  }
}

describe('nothing is sent to', () => {
  it('a corpus of sufficient size', () => {
    const corpus = new Set([...blockedLiterals, ...blockedNames, ...blockedPorts, ...invalidUrls]);
    expect(corpus.size).toBeGreaterThanOrEqual(160);
  });

  it.each([...blockedLiterals, ...blockedNames])('%j', async url => {
    expect(await sendWithoutConnecting(url)).toMatchObject({ ok: false, reason: 'blocked_address' });
  });

  it.each(invalidUrls)('%j, which is not a valid request URL', async url => {
    expect(await sendWithoutConnecting(url)).toMatchObject({ ok: false, reason: 'invalid_url' });
  });

  it.each(blockedPorts)('%j, another protocol', async url => {
    expect(await sendWithoutConnecting(url)).toMatchObject({ ok: false, reason: 'blocked_port' });
  });

  it('what the operator denies, even if it is also allowed', async () => {
    const settings = { allow: ['93.184.0.0/16'], deny: ['93.184.215.0/24'] };
    expect(await sendWithoutConnecting('http://93.184.215.14/', settings)).toMatchObject({
      reason: 'blocked_address',
    });
  });

  it('the mapped form of an allowed IPv4 address', async () => {
    const settings = { allow: ['127.0.0.0/8'] };
    expect(await sendWithoutConnecting('http://[::ffff:127.0.0.1]/', settings)).toMatchObject({
      reason: 'blocked_address',
    });
  });

  it('names that do not resolve', async () => {
    const empty = async () => [];
    const failing = async () => Promise.reject(Object.assign(new Error('no'), { code: 'ESERVFAIL' }));
    for (const one of [empty, failing]) {
      const result = await sendWithoutConnecting('http://nowhere.example/', { resolver: one });
      expect(result).toMatchObject({ ok: false, reason: 'dns' });
    }
  });
});

describe('check', () => {
  it('refuses impossible names without a lookup', async () => {
    const outbound = openOutbound({ allow: [] });
    for (const url of blockedLiterals) expect(outbound.check(url)?.reason).toBe('blocked_address');
    for (const url of invalidUrls) expect(outbound.check(url)?.reason).toBe('invalid_url');
    for (const url of blockedPorts) expect(outbound.check(url)?.reason).toBe('blocked_port');
    expect(outbound.check('https://example.com/hook')).toBeUndefined();
    expect(outbound.check('http://[2606:4700:4700::1111]:8080/')).toBeUndefined();
    expect(openOutbound().check('http://127.0.0.1:3000/')).toBeUndefined();
  });
});

describe('a name with several addresses', () => {
  it('is reached at the permitted one, whichever comes first', async () => {
    const server = await startServer();
    for (const answer of [
      ['10.0.0.1', '127.0.0.1', '::1'],
      ['127.0.0.1', '169.254.169.254'],
    ]) {
      const outbound = openOutbound({ resolver: async () => answer });
      const result = await outbound.send({ url: `http://mixed.example:${server.port}/`, method: 'POST' });
      expect(result).toMatchObject({ ok: true, address: '127.0.0.1' });
    }
  });

  it('falls back to the next address when one refuses', async () => {
    const server = await startServer();
    const outbound = openOutbound({ resolver: async () => ['127.0.0.2', '127.0.0.1'] });
    const result = await outbound.send({ url: `http://two.example:${server.port}/`, method: 'POST' });
    expect(result).toMatchObject({ ok: true, address: '127.0.0.1' });
  });
});

describe('a name server that changes its answer', () => {
  const settings = { allow: ['127.0.0.1/32'] };

  it('is queried once per connection: the checked address is the one connected to', async () => {
    const server = await startServer();
    let asked = 0;
    const resolver = async () => [asked++ === 0 ? '127.0.0.1' : '127.0.0.2'];
    const outbound = openOutbound({ ...settings, resolver, connectionsPerOrigin: 1 });
    const url = `http://rebinding.example:${server.port}/`;
    expect(await outbound.send({ url, method: 'POST' })).toMatchObject({ ok: true, address: '127.0.0.1' });
    expect(asked).toBe(1);
    // The kept connection goes where it was checked to go.
    expect(await outbound.send({ url, method: 'POST' })).toMatchObject({ ok: true, address: '127.0.0.1' });
    expect(asked).toBe(1);
  });

  it('is checked again for every new connection', async () => {
    const server = await startServer((_, response) => {
      response.setHeader('connection', 'close');
      response.end();
    });
    const answers = ['127.0.0.1', '127.0.0.2', '169.254.169.254', '127.0.0.1', '::1'];
    const outbound = openOutbound({ ...settings, resolver: async () => [answers.shift() ?? '10.0.0.1'] });
    const outcomes: unknown[] = [];
    while (answers.length > 0) {
      const result = await outbound.send({ url: `http://rebinding.example:${server.port}/`, method: 'POST' });
      outcomes.push(result.ok ? result.status : result.reason);
    }
    expect(outcomes).toEqual([200, 'blocked_address', 'blocked_address', 200, 'blocked_address']);
    expect(server.connections()).toBe(2);
  });
});
