import { linesOf } from '../../store/lines.ts';
import { authorize, type ConnectFlags } from '../connection.ts';

type Message = { id?: unknown; method?: unknown; params?: Record<string, unknown> };
type Request = { message: Message; stop: AbortController };

// Assistants on this machine start programs and talk to them line by line. Each line is a message of the protocol, and
// is sent to the server unchanged, with the credentials of the signed-in user.
export async function serveMcp(flags: ConnectFlags): Promise<void> {
  const { url, token } = await authorize(flags);
  const running = new Map<Promise<void>, Request>();
  let version: string | undefined; // agreed on in the first response; a message of 2026-07-28 has its own
  const print = (answer: string): void => {
    version ??= (JSON.parse(answer) as { result?: { protocolVersion?: string } }).result?.protocolVersion;
    process.stdout.write(`${answer}\n`);
  };
  const forward = async (line: string, { message, stop: { signal } }: Request): Promise<void> => {
    try {
      const headers = { authorization: `Bearer ${await token()}`, ...headersOf(message, version) };
      await post(`${url}/mcp`, { line, message, headers, signal, print });
    } catch (error) {
      if (!signal.aborted) fail(message, error instanceof Error ? error.message : String(error), print);
    }
  };
  const stopWhere = (isMeant: (message: Message) => boolean) => {
    for (const { message, stop } of running.values()) if (isMeant(message)) stop.abort();
  };
  for await (const line of linesOf(process.stdin)) {
    if (line.trim() === '') continue;
    const message = parse(line);
    const own = revisionOf(message);
    // Over HTTP, a request of this revision is cancelled by the end of its connection.
    if (own !== undefined && message.method === 'notifications/cancelled') {
      stopWhere(({ id }) => id === message.params?.requestId);
      continue;
    }
    const request = { message, stop: new AbortController() };
    const work = forward(line, request).finally(() => running.delete(work));
    running.set(work, request);
    if (version === undefined && own === undefined) await work; // its response decides the header of the others
  }
  stopWhere(({ method }) => method === 'subscriptions/listen'); // they would never end
  await Promise.all(running.keys());
}

function parse(line: string): Message {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {}; // the server says what is wrong
  }
}

function revisionOf({ params }: Message): string | undefined {
  const meta = params?._meta as Record<string, unknown> | undefined;
  const revision = meta?.['io.modelcontextprotocol/protocolVersion'];
  return typeof revision === 'string' ? revision : undefined;
}

// Names the headers that say what a message is, so that proxies need not read its body.
function headersOf(message: Message, version: string | undefined): Record<string, string> {
  const revision = revisionOf(message) ?? version;
  const { method, params } = message;
  const headers: Record<string, string> = {};
  if (revision !== undefined) headers['mcp-protocol-version'] = headerValue(revision);
  if (revisionOf(message) === undefined) return headers;
  if (typeof method === 'string') headers['mcp-method'] = headerValue(method);
  const name = method === 'resources/read' ? params?.uri : params?.name;
  if (typeof name === 'string') headers['mcp-name'] = headerValue(name);
  return headers;
}

// As the protocol encodes what is not plain ASCII, or looks as if it were encoded.
const headerValue = (text: string): string =>
  /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith('=?')
    ? text
    : `=?base64?${Buffer.from(text).toString('base64')}?=`;

type Post = {
  line: string;
  message: Message;
  headers: Record<string, string>;
  signal: AbortSignal;
  print(answer: string): void;
};

async function post(url: string, { line, message, headers, signal, print }: Post): Promise<void> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: line,
    signal,
  });
  if (response.ok && response.body && isStream(response)) {
    for await (const event of linesOf(response.body))
      if (event.startsWith('data: ')) print(event.slice('data: '.length));
    return;
  }
  const text = await response.text();
  if (response.ok) {
    if (text !== '') print(JSON.stringify(JSON.parse(text)));
  } else if (isAnswerTo(message, text)) print(JSON.stringify(JSON.parse(text)));
  else fail(message, `The server answered ${response.status}`, print);
}

const isStream = ({ headers }: Response): boolean =>
  headers.get('content-type')?.startsWith('text/event-stream') === true;

// An error of the protocol has another status than 200, and says more than that.
function isAnswerTo({ id }: Message, text: string): boolean {
  const { id: answered, error } = parse(text) as { id?: unknown; error?: unknown };
  return id !== undefined && answered === id && error !== undefined;
}

// As a response to the request, if it was one.
function fail({ id, method }: Message, message: string, print: (answer: string) => void): void {
  if (id === undefined && method !== undefined) return;
  print(JSON.stringify({ jsonrpc: '2.0', id: id ?? null, error: { code: -32603, message } }));
}
