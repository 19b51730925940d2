import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import type { Fixture } from './agents-fixture.ts';

type Sent = {
  method: string;
  path: string;
  authorization: string | undefined;
  body: Record<string, unknown>;
};
type Answer = { status: number; body: unknown; headers?: Record<string, string> };

let botFrameworkKeys: ReturnType<typeof generateKeyPair> | undefined; // making them takes a while

// The providers' APIs on this machine: Slack, Telegram, WhatsApp and the Bot Framework with its keys.
export async function openProviders() {
  const sent: Sent[] = [];
  const refusals: Answer[] = []; // answered first, one each
  const waits: Promise<void>[] = []; // before messages are acknowledged, one each
  const tokenStatus = { status: 200 }; // of Microsoft's tokens
  botFrameworkKeys ??= generateKeyPair('RS256', { extractable: true });
  const { publicKey, privateKey } = await botFrameworkKeys;
  const jwk = { ...(await exportJWK(publicKey)), kid: 'k1', use: 'sig', alg: 'RS256' };
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const answer = (one: Answer) =>
      response
        .writeHead(one.status, { 'Content-Type': 'application/json', ...one.headers })
        .end(JSON.stringify(one.body));
    if (request.url === '/openid') return answer({ status: 200, body: { jwks_uri: `${url()}/keys` } });
    if (request.url === '/keys') return answer({ status: 200, body: { keys: [jwk] } });
    if (request.url === '/token') {
      if (tokenStatus.status !== 200) return answer({ status: tokenStatus.status, body: {} });
      const form = new URLSearchParams(text);
      return form.get('client_secret') === 'pw'
        ? answer({ status: 200, body: { access_token: 'teams-token', expires_in: 3600 } })
        : answer({ status: 401, body: { error: 'invalid_client' } });
    }
    const refusal = refusals.shift();
    if (refusal) return answer(refusal);
    const { method, url: path, headers } = request;
    const body = JSON.parse(text) as Record<string, unknown>;
    sent.push({ method: method!, path: path!, authorization: headers.authorization, body });
    await waits.shift();
    // What the message is called from now on: Slack says channel and ts, the Bot Framework an id.
    const named = { channel: body.channel, ts: `shown-${sent.length}`, id: `shown-${sent.length}` };
    return answer({ status: 200, body: { ok: true, ...named } });
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    sent,
    refusals,
    waits,
    tokenStatus,
    url: url(),
    addresses: {
      slack: `${url()}/slack`,
      telegram: `${url()}/telegram`,
      whatsapp: `${url()}/whatsapp`,
      teamsOpenId: `${url()}/openid`,
      teamsToken: `${url()}/token`,
    },
    sign: (claims: JWTPayload, nowMs: number, key = privateKey) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: 'RS256', kid: 'k1' })
        .setIssuedAt(nowMs / 1000)
        .setExpirationTime(nowMs / 1000 + 3600)
        .sign(key),
    close: () =>
      new Promise<void>(resolve => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

const hmac = (secret: string, text: string) => createHmac('sha256', secret).update(text).digest('hex');

type Headers = Record<string, string>;

export const deliver = (fixture: Fixture, type: string, id: string, event: unknown, headers: Headers) => {
  const body = textOf(event);
  return fixture.call('POST', `/v1/channels/${type}/${id}/webhook`, { as: '', body, headers });
};

const textOf = (event: unknown) => (typeof event === 'string' ? event : JSON.stringify(event));

export const signSlack = (fixture: Fixture, event: unknown, secret = 'slack-secret', shiftS = 0): Headers => {
  const timestamp = String(Math.floor(fixture.clock.now() / 1000) + shiftS);
  return {
    'X-Slack-Request-Timestamp': timestamp,
    'X-Slack-Signature': `v0=${hmac(secret, `v0:${timestamp}:${textOf(event)}`)}`,
  };
};

export const slackMessage = (text: string, ts: string, change: object = {}) => ({
  type: 'event_callback',
  team_id: 'T1',
  event_id: `Ev${ts}`,
  event: { type: 'message', channel: 'D1', user: 'U1', ts, text, ...change },
});

export const signWhatsApp = (event: unknown, secret = 'app-secret'): Headers => ({
  'X-Hub-Signature-256': `sha256=${hmac(secret, JSON.stringify(event))}`,
});
