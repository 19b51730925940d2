import { type HookRequest, viewRequest } from '../filters/request-view.ts';
import * as limits from './limits.ts';
import { isSame, type Provider } from './signing.ts';

export type Handshake = {
  // A signed handshake is answered only after its signature is verified. One with a verify token needs no signature.
  signed: boolean;
  status: 200 | 403;
  contentType: 'text/plain; charset=utf-8';
  body: string;
};

// The response that a provider expects before it sends events, or undefined if the request is an event.
export function answerHandshake(
  provider: Provider,
  request: HookRequest,
  verifyTokens: readonly string[],
): Handshake | undefined {
  if (request.method === 'GET') return answerSubscription(request, verifyTokens);
  if (provider === 'slack') return answerSlack(request);
  if (provider === 'github' && viewRequest(request).header('x-github-event')[0] === 'ping')
    return say(true, 'pong');
  return undefined;
}

// WebSub's verification, as Meta's platforms send it: `?hub.mode=subscribe&hub.verify_token=…&hub.challenge=…`.
function answerSubscription(request: HookRequest, verifyTokens: readonly string[]): Handshake | undefined {
  const view = viewRequest(request);
  const [mode] = view.queryValues('hub.mode');
  const [challenge] = view.queryValues('hub.challenge');
  const [token = ''] = view.queryValues('hub.verify_token');
  if (mode !== 'subscribe' || challenge === undefined || verifyTokens.length === 0) return undefined;
  const isKnown = verifyTokens.some(verifyToken => verifyToken !== '' && isSame(verifyToken, token));
  if (!isKnown || challenge.length > limits.challengeChars)
    return { ...say(false, 'The verify token does not match'), status: 403 };
  return say(false, challenge);
}

function answerSlack(request: HookRequest): Handshake | undefined {
  const json = viewRequest(request).json();
  const fields = json.ok ? Object.entries(json.value ?? {}) : [];
  const read = (name: string): unknown => fields.find(([one]) => one === name)?.[1];
  const challenge = read('challenge');
  if (read('type') !== 'url_verification' || typeof challenge !== 'string') return undefined;
  return challenge.length > limits.challengeChars ? undefined : say(true, challenge);
}

// Plain text, so that what a stranger makes us echo is never rendered as a page.
const say = (signed: boolean, body: string): Handshake => ({
  signed,
  status: 200,
  contentType: 'text/plain; charset=utf-8',
  body,
});
