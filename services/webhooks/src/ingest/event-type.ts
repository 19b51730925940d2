import { type HookRequest, viewRequest } from '../filters/request-view.ts';
import * as limits from '../limits.ts';
import type { Source } from '../main-table.ts';

type Sender = Source['provider'];

// Where the senders that we know say what happened. A header is read first, because it costs nothing.
const headers: Partial<Record<Sender, string>> = {
  github: 'x-github-event',
  shopify: 'x-shopify-topic',
};
const usualHeaders = ['x-event-type', 'x-webhook-event', 'x-event-name', 'ce-type'];
const usualFields = ['type', 'event_type', 'eventType', 'event', 'event_name', 'topic', 'action'];

/** Reads what the sender calls the event, such as `invoice.paid`; undefined if the request does not say. */
export function eventTypeOf(provider: Sender, request: HookRequest): string | undefined {
  const view = viewRequest(request);
  const own = headers[provider];
  for (const name of own === undefined ? usualHeaders : [own, ...usualHeaders]) {
    const named = nameOf(view.header(name)[0]);
    if (named !== undefined) return provider === 'github' ? withAction(named, view) : named;
  }
  return nameOf(fieldOf(provider, view));
}

type View = ReturnType<typeof viewRequest>;

// A large body is not parsed for its type while the sender waits.
function dataOf(view: View): unknown {
  if (view.body.length === 0 || view.body.length > limits.eventTypeBodyBytes) return undefined;
  const json = view.json();
  return json.ok ? json.value : undefined;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function fieldOf(provider: Sender, view: View): unknown {
  const data = dataOf(view);
  // SendGrid sends a list of events, Slack an envelope around one.
  const one = Array.isArray(data) ? data[0] : data;
  if (!isObject(one)) return undefined;
  if (provider === 'slack' && isObject(one.event)) return one.event.type;
  if (provider === 'sendgrid') return one.event;
  return usualFields.map(name => one[name]).find(value => nameOf(value) !== undefined);
}

// GitHub puts the action into the body: `pull_request.opened`.
function withAction(event: string, view: View): string {
  const data = dataOf(view);
  const action = isObject(data) ? nameOf(data.action) : undefined;
  return action === undefined ? event : `${event}.${action}`;
}

// Short, in one line and without spaces, or it is not the name of a type.
function nameOf(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  return text.length <= limits.eventTypeChars && /^[^\s\p{C}]+$/u.test(text) ? text : undefined;
}
