import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';

export type ChatEvent = { id: string; event: string; data: string };
export type Chat = {
  readonly events: readonly ChatEvent[];
  hasBegun(): boolean; // part of the answer has arrived
  // Disconnects, and resumes where it was.
  comeBack(): Promise<void>;
  over(): Promise<void>; // resolves when the answer is complete
};
export type ChatRequest = { path: string; token: string; body: object };

// Sends a message, and reads the answer as events.
export async function openChat(url: string, { path, token, body }: ChatRequest): Promise<Chat> {
  const events: ChatEvent[] = [];
  let stream = await openStream(url, { method: 'POST', path, token, body }, events);
  return {
    events,
    hasBegun: () => events.some(({ event }) => event === 'delta'),
    async comeBack() {
      stream.close();
      const { message_id } = JSON.parse(events[0]!.data) as { message_id: string };
      const again = { method: 'GET', path: `${path}/${message_id}`, token, after: events.at(-1)!.id };
      stream = await openStream(url, again, events);
    },
    over: () => stream.over,
  };
}

type StreamRequest = { method: string; path: string; token: string; body?: object; after?: string };

async function openStream(url: string, wanted: StreamRequest, events: ChatEvent[]) {
  const { method, path, token, body, after } = wanted;
  const sent: ClientRequest = request(`${url}${path}`, {
    method,
    agent: false, // a separate connection
    headers: {
      Authorization: `Bearer ${token}`,
      Accept: 'text/event-stream',
      ...(body && { 'Content-Type': 'application/json' }),
      ...(after !== undefined && { 'Last-Event-ID': after }),
    },
  });
  sent.end(body && JSON.stringify(body));
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  if (response.statusCode !== 200) throw new Error(`${method} ${path}: ${response.statusCode}`);
  let rest = '';
  response.setEncoding('utf8').on('data', (text: string) => {
    const texts = (rest + text).split('\n\n');
    rest = texts.pop()!;
    events.push(...texts.flatMap(parseEvent));
  });
  const over = new Promise<void>((resolve, reject) => {
    response.once('end', resolve);
    response.once('error', reject);
  });
  over.catch(() => {}); // disconnected
  return { over, close: () => void sent.destroy() };
}

// Empty for a heartbeat.
export function parseEvent(text: string): ChatEvent[] {
  const fields = new Map(text.split('\n').map(line => line.split(/: (.*)/, 2) as [string, string]));
  const [id, event, data] = ['id', 'event', 'data'].map(name => fields.get(name));
  return id === undefined || event === undefined || data === undefined ? [] : [{ id, event, data }];
}
