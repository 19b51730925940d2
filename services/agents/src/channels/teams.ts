import { type Clock, createRecentMap } from '@stak/kit';
import { z } from 'zod';
import type { Service } from '../deps.ts';
import * as limits from '../limits.ts';
import type { ChannelKind, ChannelPress, Question } from './channel.ts';
import type { ChannelAddresses } from './provider-addresses.ts';
import { callJson, judge } from './provider-calls.ts';
import { asObject, asText, hmacHex, readJson } from './signatures.ts';

const issuer = 'https://api.botframework.com';
const bearer = /^Bearer ([A-Za-z0-9_.-]{1,8000})$/;

// The channel's id is the bot's app id. A request carries a token of the Bot Framework, issued for this app and for the
// service URL in the activity: the answer goes there.
export function teams({ teamsOpenId, teamsToken }: ChannelAddresses): ChannelKind {
  const keys = createKeys(teamsOpenId);
  const tokens = createRecentMap<string, { token: string; untilMs: number }>(limits.cachedTokens);

  const accessToken = async (
    service: Pick<Service, 'clock' | 'log' | 'outbound'>,
    appId: string,
    password: string,
  ) => {
    const nowMs = service.clock.now();
    // Includes the password: the app id alone must not give access to an earlier owner's conversations.
    const cacheKey = hmacHex(password, appId);
    const known = tokens.get(cacheKey);
    if (known && known.untilMs > nowMs) return known.token;
    const form = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: appId,
      client_secret: password,
      scope: 'https://api.botframework.com/.default',
    });
    const called = await callJson(service, teamsToken, [], form);
    if ('failed' in called || called.status !== 200 || typeof called.json.access_token !== 'string')
      return called;
    const untilMs = nowMs + Number(called.json.expires_in ?? 0) * 1000 - limits.tokenEarlyMs;
    tokens.set(cacheKey, { token: called.json.access_token, untilMs });
    return called.json.access_token;
  };

  // A verified owner stays verified while Microsoft cannot be reached.
  const owners = createRecentMap<string, true>(limits.cachedTokens);
  const isOwner = async (
    service: Pick<Service, 'clock' | 'log' | 'outbound'>,
    appId: string,
    password: string,
  ): Promise<boolean> => {
    const key = hmacHex(password, appId);
    const token = await accessToken(service, appId, password);
    if (typeof token === 'string') {
      owners.set(key, true);
      return true;
    }
    const outcome = judge(token, () => false);
    return !outcome.ok && outcome.retryMs !== undefined && owners.get(key) === true;
  };

  return {
    credentials: z.strictObject({ app_password: z.string().min(1).max(limits.credentialChars) }),

    // Anyone can claim an app id, and Microsoft signs for the app, not for us. Only the owner knows the password.
    async checkOwner(service, appId, { app_password = '' }) {
      const token = await accessToken(service, appId, app_password);
      return typeof token === 'string' ? { ok: true } : judge(token, () => false);
    },

    async prove(service, { channelId, header, body }, { app_password = '' }) {
      const { clock, log } = service;
      const token = bearer.exec(header('authorization') ?? '')?.[1];
      if (token === undefined) return false;
      const { errors, jwtVerify } = await import('jose');
      try {
        const { payload } = await jwtVerify(token, await keys(clock), {
          issuer,
          audience: channelId,
          algorithms: ['RS256'],
          clockTolerance: limits.signatureToleranceS,
          currentDate: new Date(clock.now()),
          requiredClaims: ['exp'],
        });
        const { serviceUrl } = readJson(body);
        if (typeof serviceUrl !== 'string' || payload.serviceurl !== serviceUrl) return false;
        // Also for credentials that were stored before they were checked.
        return await isOwner(service, channelId, app_password);
      } catch (error) {
        if (!(error instanceof errors.JOSEError))
          log.warn({ err: error }, 'could not fetch the signing keys of Teams');
        return false;
      }
    },

    read({ body }) {
      const json = readJson(body);
      const [from, chat] = [asObject(json.from), asObject(json.conversation)];
      const [id, conversation] = [asText(json.id), asText(chat.id)];
      const identity = asText(from.aadObjectId) || asText(from.id);
      const press = readPress(json, identity);
      if (press) return { messages: [], presses: [press] };
      const text = asText(json.text).replace(/<at>[^<]*<\/at>/g, '');
      if (
        json.type !== 'message' ||
        id === '' ||
        conversation === '' ||
        identity === '' ||
        text.trim() === ''
      )
        return { messages: [] };
      const replyTo = { serviceUrl: asText(json.serviceUrl), conversation, activity: id };
      const message = {
        id: `${conversation} ${id}`,
        identity,
        chat: `${conversation} ${identity}`,
        text,
        replyTo,
      };
      return { messages: [message] };
    },

    // As Markdown, a client would load pictures: their addresses could carry what the model was told.
    async send(service, appId, { app_password = '' }, replyTo, text) {
      const token = await accessToken(service, appId, app_password);
      if (typeof token !== 'string') return judge(token, () => false);
      const { activity: replyToId } = replyTo;
      const activity = { type: 'message', textFormat: 'plain', text, replyToId };
      const called = await callBot(service, token, replyTo, activity);
      return judge(called, () => true);
    },

    async ask(service, appId, { app_password = '' }, replyTo, question, shownAs) {
      const token = await accessToken(service, appId, app_password);
      if (typeof token !== 'string') return judge(token, () => false);
      const content = cardOf(question);
      const attachments = [{ contentType: 'application/vnd.microsoft.card.adaptive', content }];
      const activity = { type: 'message', attachments };
      const called = shownAs
        ? await callBot(service, token, shownAs, { ...activity, id: shownAs.activity }, 'PUT')
        : await callBot(service, token, replyTo, { ...activity, replyToId: replyTo.activity });
      const outcome = judge(called, () => true);
      if (!outcome.ok || 'failed' in called) return outcome;
      const id = asText(called.json.id) || shownAs?.activity;
      return id ? { ...outcome, shownAs: { ...replyTo, activity: id } } : outcome;
    },

    answerPress: ({ body }, text) =>
      readJson(body).type === 'invoke'
        ? { statusCode: 200, type: 'application/vnd.microsoft.activity.message', value: text }
        : undefined,
  };
}

function callBot(
  service: Pick<Service, 'clock' | 'outbound'>,
  token: string,
  { serviceUrl = '', conversation = '', activity = '' }: Record<string, string>,
  body: object,
  method: 'POST' | 'PUT' = 'POST',
) {
  const base = serviceUrl.replace(/\/$/, '');
  const path = `v3/conversations/${encodeURIComponent(conversation)}/activities/${encodeURIComponent(activity)}`;
  return callJson(service, `${base}/${path}`, [['authorization', `Bearer ${token}`]], body, method);
}

// Text runs, not text blocks: those are parsed as Markdown, and a model could write a link.
const run = (text: string, more: object = {}) => ({
  type: 'RichTextBlock',
  inlines: [{ type: 'TextRun', text, ...more }],
});

function cardOf({ text, conversation_id, calls }: Question) {
  const action = (approval_id: string, title: string, style: string, approved: boolean) => ({
    type: 'Action.Execute',
    verb: approved ? 'approve' : 'refuse',
    title,
    style,
    data: { conversation_id, approval_id, approved },
    fallback: 'Action.Submit', // for clients that do not support it; the data is the same
  });
  const body = calls.flatMap(call => [
    run(call.text, { fontType: 'Monospace' }),
    call.outcome === undefined
      ? {
          type: 'ActionSet',
          actions: [
            action(call.approval_id, 'Approve', 'positive', true),
            action(call.approval_id, 'Refuse', 'destructive', false),
          ],
        }
      : run(call.outcome, { isSubtle: true }),
  ]);
  return { type: 'AdaptiveCard', version: '1.4', body: [run(text, { weight: 'Bolder' }), ...body] };
}

// An action of a card arrives as an `invoke`, from older clients as a message with a value and without text.
function readPress(json: Readonly<Record<string, unknown>>, identity: string): ChannelPress | undefined {
  const value = asObject(json.value);
  const isInvoke = json.type === 'invoke' && json.name === 'adaptiveCard/action';
  const isSubmit = json.type === 'message' && asText(json.text).trim() === '';
  if (!isInvoke && !isSubmit) return undefined;
  const { conversation_id, approval_id, approved } = asObject(isInvoke ? asObject(value.action).data : value);
  const ids = { conversation_id: asText(conversation_id), approval_id: asText(approval_id) };
  if (identity === '' || ids.approval_id === '' || typeof approved !== 'boolean') return undefined;
  return { identity, ...ids, approved };
}

// The provider's signing keys, from its metadata. jose fetches new ones when a token names an unknown key.
function createKeys(openIdUrl: string) {
  let known: { keys: import('jose').JWTVerifyGetKey; untilMs: number } | undefined;
  return async (clock: Clock): Promise<import('jose').JWTVerifyGetKey> => {
    if (known && known.untilMs > clock.now()) return known.keys;
    const { createRemoteJWKSet } = await import('jose');
    const response = await fetch(openIdUrl, { signal: AbortSignal.timeout(limits.replyMs) });
    const { jwks_uri } = (await response.json()) as { jwks_uri?: unknown };
    known = { keys: createRemoteJWKSet(new URL(String(jwks_uri))), untilMs: clock.now() + limits.openIdMs };
    return known.keys;
  };
}
