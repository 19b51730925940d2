import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { cutText } from '@stak/kit';
import type { HeaderPair, Outbound } from '@stak/outbound';
import * as limits from '../../limits.ts';
import { OutcomeUnknown, refusalOf } from '../skill.ts';

export type McpAddress = { url: string; headers: Readonly<Record<string, string>> };
export type McpReach = { outbound: Outbound; signal: AbortSignal; timeoutMs: number };

// A session with a server by the protocol's own client, over the guarded one: each request gets one response, within
// limits of time and size. Rejects with a message for the caller: as `OutcomeUnknown` if a request may have been carried
// out, although there is no answer that can be read.
export async function withMcpServer<T>(
  address: McpAddress,
  reach: McpReach,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const [{ Client: McpClient }, { StreamableHTTPClientTransport }] = await Promise.all([
    import('@modelcontextprotocol/sdk/client/index.js'),
    import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
  ]);
  const client = new McpClient({ name: 'stak', version: '1' }, { jsonSchemaValidator });
  const transport = new StreamableHTTPClientTransport(new URL(address.url), {
    fetch: guardedFetch(address, reach),
    requestInit: { headers: { ...address.headers } },
    reconnectionOptions: {
      maxRetries: 0,
      initialReconnectionDelay: 1,
      maxReconnectionDelay: 1,
      reconnectionDelayGrowFactor: 1,
    },
  });
  try {
    return await untilAborted(reach.signal, async () => {
      // Its type has optional fields that exclude undefined.
      await client.connect(transport as Parameters<Client['connect']>[0]);
      return work(client);
    });
  } finally {
    // Does not wait for a server that does not respond when the session is closed.
    transport.terminateSession().catch(() => {});
    client.close().catch(() => {});
  }
}

// The SDK would compile the schemas of a server's results: code of a stranger's making, on the thread that serves all
// requests. A model reads results as they are.
const jsonSchemaValidator = {
  getValidator: () => (data: unknown) => ({ valid: true, data, errorMessage: undefined }) as never,
};

// The SDK has its own timers; the wait ends with the signal.
function untilAborted<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    work()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', abort));
  });
}

const bodiless = new Set([204, 205, 304]);

function guardedFetch({ url }: McpAddress, { outbound, signal, timeoutMs }: McpReach) {
  return async (target: string | URL, init: RequestInit = {}): Promise<Response> => {
    const { method = 'GET' } = init;
    // Messages that a server sends on its own are not needed, and only its own URL is called.
    if (method === 'GET' || new URL(target).href !== new URL(url).href)
      return new Response(null, { status: 405 });
    const result = await outbound.send({
      url,
      method,
      headers: [...new Headers(init.headers)] as HeaderPair[],
      ...(typeof init.body === 'string' && { body: init.body }),
      signal,
      timeoutMs,
    });
    if (!result.ok && result.isSent) throw new OutcomeUnknown(`it did not answer (${result.reason})`);
    if (!result.ok) throw new Error(`it could not be reached (${result.reason})`);
    if (method === 'POST' && (result.status < 200 || result.status > 299)) throw refusalOf(result.status);
    if (result.truncated) throw new OutcomeUnknown(`it answered with more than ${limits.mcpBytes} bytes`);
    checkMessages(Buffer.from(result.body).toString());
    const headers = new Headers(result.headers.map(([name, value]): [string, string] => [name, value]));
    const body = bodiless.has(result.status) ? null : new Uint8Array(result.body);
    return new Response(body, { status: result.status, headers });
  };
}

// An answer is one message, after some about its progress. The SDK handles any number without a pause, and answers each
// that is a request. Lists of messages are no longer part of the protocol.
function checkMessages(body: string): void {
  const events = body.replaceAll('\r\n', '\n').replaceAll('\r', '\n').split('\n\n').length;
  if (events > limits.mcpMessages || body.trimStart().startsWith('['))
    throw new OutcomeUnknown('it answered with too many messages');
  // The SDK describes every value that does not fit its schemas.
  if (countCommas(body) > limits.mcpValues) throw new OutcomeUnknown('it answered with too many values');
}

// Outside of texts, which end with their line.
function countCommas(json: string): number {
  let commas = 0;
  let isInText = false;
  for (let i = 0; i < json.length; i++) {
    const code = json.charCodeAt(i);
    if (code === 0x0a || code === 0x0d) isInText = false;
    else if (code === 0x22) isInText = !isInText;
    else if (!isInText) commas += code === 0x2c ? 1 : 0;
    else if (code === 0x5c && json.charCodeAt(i + 1) > 0x1f) i++;
  }
  return commas;
}

type Issues = { issues: readonly { path: readonly PropertyKey[]; message: string }[] };

// The first thing that is wrong, in words: the message of such an error is a page of JSON.
export function describeIssue({ issues: [first] }: Issues): string {
  const { path = [], message = 'it cannot be read' } = first ?? {};
  return path.length === 0 ? message : `${path.map(String).join('.')}: ${message}`;
}

// The part of an error that helps users of the server.
export function describeMcpError(error: unknown): string {
  const isInvalid = Array.isArray(Object(error).issues);
  const invalid = isInvalid ? `its answer is not valid: ${describeIssue(error as Issues)}` : undefined;
  const text = invalid ?? (error instanceof Error ? error.message : String(error));
  return cutText(text.replace(/\s+/g, ' '), 300) || 'it failed';
}
