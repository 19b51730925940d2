import type { Client, ConnectOptions } from '@modelcontextprotocol/client';
import { currentTraceparent, cutText } from '@stak/kit';
import type { HeaderPair, Outbound } from '@stak/outbound';
import * as limits from '../../limits.ts';
import { OutcomeUnknown, refusalOf } from '../skill.ts';

export type McpAddress = {
  url: string;
  headers: Readonly<Record<string, string>>;
  revision?: string | undefined; // of the protocol, as the server had it last
};
export type McpReach = { outbound: Outbound; signal: AbortSignal; timeoutMs: number };

// The first revision without a session, where a call is one request, and the one before it.
const stateless = '2026-07-28';
export const withSessions = '2025-11-25';

class McpRefusal extends Error {}

// The server may speak another revision than when its tools were listed.
export const isOfRevision = (error: unknown): boolean =>
  error instanceof McpRefusal || Object(error).code === unsupportedRevision;
const unsupportedRevision = -32022;

// A session with a server by the protocol's own client, over the guarded one: each request gets one response, within
// limits of time and size. Asks which revision the server speaks, unless it is known. Rejects with a message for the
// caller: as `OutcomeUnknown` if a request may have been carried out, although there is no answer that can be read.
export async function withMcpServer<T>(
  address: McpAddress,
  reach: McpReach,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const { Client: McpClient, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const client = new McpClient(
    { name: 'stak', version: '1' },
    {
      jsonSchemaValidator,
      versionNegotiation: { mode: 'auto' },
      inputRequired: { autoFulfill: false }, // nobody is there to be asked
      listMaxPages: limits.mcpPages, // it lists the tools again if a call needs headers
    },
  );
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
  const options = { timeout: reach.timeoutMs, ...priorOf(address) };
  let isConnected = false;
  try {
    return await untilAborted(reach.signal, async () => {
      await client.connect(transport, options);
      isConnected = true;
      return work(client);
    });
  } catch (error) {
    const reason = ourReason(error);
    // A server of before may answer with anything when it is asked for a revision.
    if (isConnected || reason || address.revision !== undefined || reach.signal.aborted)
      throw reason ?? error;
    return await withMcpServer({ ...address, revision: withSessions }, reach, work);
  } finally {
    // Does not wait for a server that does not respond when the session is closed.
    transport.terminateSession().catch(() => {});
    client.close().catch(() => {});
    transport.close().catch(() => {});
  }
}

const priorOf = ({ revision }: McpAddress): ConnectOptions => {
  if (revision === undefined) return {};
  if (revision < stateless) return { prior: { kind: 'legacy' } };
  const discover = { supportedVersions: [revision], capabilities: { tools: {} } };
  return { prior: { kind: 'modern', discover: { ...discover, ttlMs: 0, cacheScope: 'private' } } };
};

// The SDK wraps what was thrown while it asked for the revision.
function ourReason(error: unknown): Error | undefined {
  const cause: unknown = error instanceof Error && error.cause ? error.cause : error;
  return cause instanceof OutcomeUnknown || cause instanceof McpRefusal || cause instanceof Unreached
    ? cause
    : undefined;
}

// For `_meta`: a server that is traced continues our trace.
export function traceMeta(): { traceparent?: string } {
  const traceparent = currentTraceparent();
  return traceparent === undefined ? {} : { traceparent };
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
class Unreached extends Error {}

// Where the SDK reads what the server has against a request: while it asks for the revision, any refusal; of a stateless
// request, the protocol's own.
const isReadBySdk = (status: number, method: string | null): boolean =>
  method === 'server/discover'
    ? status >= 400 && status < 500 && status !== 401 && status !== 403
    : method !== null && status === 400;

const refusedRevision = new Set([400, 404, 405, 406, 415, 422]);
const describeRefusal = (status: number): Error =>
  refusedRevision.has(status) ? new McpRefusal(`it answered ${status}`) : refusalOf(status);

function guardedFetch({ url }: McpAddress, { outbound, signal, timeoutMs }: McpReach) {
  return async (target: string | URL, init: RequestInit = {}): Promise<Response> => {
    const { method = 'GET' } = init;
    // Messages that a server sends on its own are not needed, and only its own URL is called.
    if (method === 'GET' || new URL(target).href !== new URL(url).href)
      return new Response(null, { status: 405 });
    const sent = new Headers(init.headers);
    const result = await outbound.send({
      url,
      method,
      headers: [...sent] as HeaderPair[],
      ...(typeof init.body === 'string' && { body: init.body }),
      signal,
      timeoutMs,
    });
    if (!result.ok && result.isSent) throw new OutcomeUnknown(`it did not answer (${result.reason})`);
    if (!result.ok) throw new Unreached(`it could not be reached (${result.reason})`);
    const isRefused = result.status < 200 || result.status > 299;
    if (method === 'POST' && isRefused && !isReadBySdk(result.status, sent.get('mcp-method')))
      throw describeRefusal(result.status);
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
  const plain = text.replace(/\s+/g, ' ').replace(/^Invalid result for [^:]+:/, 'its answer is not valid:');
  return cutText(plain, 300) || 'it failed';
}
