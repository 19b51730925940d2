import { describe, expect, it } from 'vitest';
import type { HookRequest } from '../filters/request-view.ts';
import { answerHandshake } from './verify.ts';

const request = (change: Partial<HookRequest> & { text?: string }): HookRequest => ({
  method: 'POST',
  headers: [],
  query: '',
  body: Buffer.from(change.text ?? ''),
  ...change,
});

describe('Slack', () => {
  it('gets its challenge back, after the signature is verified', () => {
    const text = JSON.stringify({ type: 'url_verification', challenge: '<b>x</b>' });
    expect(answerHandshake('slack', request({ text }), [])).toEqual({
      signed: true,
      status: 200,
      contentType: 'text/plain; charset=utf-8',
      body: '<b>x</b>',
    });
  });

  it.each([
    '{"type":"event_callback","challenge":"x"}',
    '{"type":"url_verification","challenge":1}',
    JSON.stringify({ type: 'url_verification', challenge: 'x'.repeat(2000) }),
    'payload=x',
    'null',
    '[]',
    '',
  ])('sends an event: %s', text => {
    expect(answerHandshake('slack', request({ text }), [])).toBeUndefined();
  });
});

describe('GitHub', () => {
  it('gets a pong for its ping, and nothing for an event', () => {
    const ping = request({ headers: [['X-GitHub-Event', 'ping']] });
    expect(answerHandshake('github', ping, [])).toMatchObject({ signed: true, status: 200, body: 'pong' });
    expect(answerHandshake('custom', ping, [])).toBeUndefined();
    expect(answerHandshake('github', request({ headers: [['X-GitHub-Event', 'push']] }), [])).toBeUndefined();
  });
});

describe('a verify token', () => {
  const ask = (token: string, tokens: string[], challenge = '1158201444') =>
    answerHandshake(
      'custom',
      request({
        method: 'GET',
        query: new URLSearchParams({
          'hub.mode': 'subscribe',
          'hub.verify_token': token,
          'hub.challenge': challenge,
        }).toString(),
      }),
      tokens,
    );

  it('is exchanged for the challenge', () => {
    expect(ask('meatyhamhock', ['old', 'meatyhamhock'])).toMatchObject({
      signed: false,
      status: 200,
      body: '1158201444',
    });
  });

  it('that is wrong is refused without an echo', () => {
    for (const token of ['', 'wrong', 'meatyhamhoc'])
      expect(ask(token, ['', 'meatyhamhock'])).toMatchObject({
        status: 403,
        body: expect.not.stringContaining('1158'),
      });
    expect(ask('meatyhamhock', ['meatyhamhock'], 'x'.repeat(2000))).toMatchObject({ status: 403 });
  });

  it('is not required if none is configured', () => {
    expect(ask('anything', [])).toBeUndefined();
    expect(answerHandshake('custom', request({ method: 'GET' }), ['t'])).toBeUndefined();
  });
});
