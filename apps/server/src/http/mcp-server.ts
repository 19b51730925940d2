import { version } from '../config/version.ts';
import { type Call, type LiveList, readTable, tables } from './mcp-resources.ts';
import { type Tool, ToolInputError } from './mcp-tools.ts';
import { openWatch } from './mcp-watch.ts';

// The protocol itself, by its own SDK: 2026-07-28, and for older clients 2025-11-25 and before. A server is made for each
// request, because it holds what its caller may use.

export type Offer = {
  all: readonly Tool[];
  offered: readonly Tool[]; // those that the caller may use
  lists: readonly LiveList[]; // likewise
};
type Message = { method?: unknown; params?: { notifications?: { resourceSubscriptions?: unknown } } };

const instructions = `Stak holds the webhooks, inboxes, tasks, agents' conversations and analytics of one account.
Tools are operations of its HTTP API, and do what the caller's key may do. Lists are paged: pass "next_cursor" as "cursor".
Pass an "idempotency_key" when you create something, so that a repeated call creates nothing twice.
A failed call returns a problem with "code" and "detail", and "errors" naming each wrong field.
Resources named stak://tables/… describe the tables that lake_query reads.`;

const toolsKeptMs = 5 * 60_000; // a key may get other rights, and a server another version
const designsKeptMs = 60 * 60_000;
const cacheHints = {
  'server/discover': { ttlMs: designsKeptMs, cacheScope: 'public' },
  'tools/list': { ttlMs: toolsKeptMs, cacheScope: 'private' },
  'resources/list': { ttlMs: toolsKeptMs, cacheScope: 'private' },
  'resources/templates/list': { ttlMs: toolsKeptMs, cacheScope: 'private' },
} as const;

// Asks clients for nothing, so there is nothing to compile a schema for.
const jsonSchemaValidator = {
  getValidator: () => () => ({ valid: false as const, data: undefined, errorMessage: 'not asked for' }),
};

const watchesMost = 10; // each is a stream of the caller's

// Loaded on the first call: most servers have no MCP clients.
export async function answer(request: Request, body: unknown, offer: Offer, call: Call): Promise<Response> {
  const sdk = await import('@modelcontextprotocol/server');
  const make = () => describeServer(sdk, offer, call);
  if (await sdk.isLegacyRequest(request, body)) {
    if (!sdk.isJsonContentType(request.headers.get('content-type')))
      return Response.json(refusal(-32000, 'The content type must be application/json'), { status: 415 });
    const transport = new sdk.WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    await make().connect(transport);
    return transport.handleRequest(request, { parsedBody: body });
  }
  if ((body as Message).method !== 'subscriptions/listen')
    return sdk.createMcpHandler(make, { legacy: 'reject' }).fetch(request, { parsedBody: body });
  return listen(sdk, request, body as Message, make, offer, call);
}

async function listen(
  sdk: typeof import('@modelcontextprotocol/server'),
  request: Request,
  message: Message,
  make: () => InstanceType<typeof sdk.Server>,
  { lists }: Offer,
  call: Call,
): Promise<Response> {
  const asked = message.params?.notifications?.resourceSubscriptions;
  const uris = Array.isArray(asked) ? asked.filter(uri => typeof uri === 'string') : [];
  if (uris.length > watchesMost)
    return Response.json(refusal(-32602, `Listen to at most ${watchesMost} resources together`, message));
  let close = () => {};
  const watch = await openWatch(uris, lists, call, () => close());
  const handler = sdk.createMcpHandler(make, { legacy: 'reject', bus: watch.bus });
  close = () => void handler.close();
  // What could not be opened is not acknowledged.
  const granted = Array.isArray(asked) ? withUris(message, watch.uris) : message;
  return watch.answer(await handler.fetch(request, { parsedBody: granted }));
}

const withUris = (message: Message, resourceSubscriptions: readonly string[]) => ({
  ...message,
  params: { ...message.params, notifications: { ...message.params?.notifications, resourceSubscriptions } },
});

const refusal = (code: number, message: string, request?: object) => ({
  jsonrpc: '2.0',
  error: { code, message },
  id: (request as { id?: unknown } | undefined)?.id ?? null,
});

function describeServer(
  {
    Server,
    ProtocolError,
    ProtocolErrorCode,
    TRACEPARENT_META_KEY,
  }: typeof import('@modelcontextprotocol/server'),
  { all, offered, lists }: Offer,
  call: Call,
) {
  const server = new Server(
    { name: 'stak', title: 'Stak', version },
    {
      capabilities: { tools: {}, resources: { subscribe: true } },
      instructions,
      cacheHints,
      jsonSchemaValidator,
    },
  );
  const refuse = (text: string) => new ProtocolError(ProtocolErrorCode.InvalidParams, text);
  // Callers that are traced see what a tool did as a part of their trace.
  const traced =
    (meta: Record<string, unknown> | undefined): Call =>
    (path, init) => {
      const traceparent = meta?.[TRACEPARENT_META_KEY];
      if (typeof traceparent !== 'string' || !traceShape.test(traceparent)) return call(path, init);
      return call(path, { ...init, headers: { ...(init.headers as Record<string, string>), traceparent } });
    };

  server.setRequestHandler('tools/list', () => ({
    tools: offered.map(({ name, title, description, inputSchema, outputSchema, annotations }) => ({
      ...{ name, title, description, inputSchema, annotations },
      ...(outputSchema && { outputSchema }),
    })),
  }));
  server.setRequestHandler('tools/call', async ({ params }) => {
    const tool = all.find(({ name }) => name === params.name);
    if (!tool) throw refuse(`There is no tool ${JSON.stringify(params.name.slice(0, 100))}`);
    return runTool(tool, params.arguments ?? {}, traced(params._meta));
  });
  server.setRequestHandler('resources/list', () => ({
    resources: [
      ...tables,
      ...lists
        .filter(list => !list.hasParameters)
        .map(({ template: uri, name, title, description }) => ({ uri, name, title, description, mimeType })),
    ],
  }));
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: lists
      .filter(list => list.hasParameters)
      .map(({ template, name, title, description }) => ({
        ...{ uriTemplate: template, name, title, description, mimeType },
      })),
  }));
  server.setRequestHandler('resources/read', async ({ params: { uri, _meta } }) => {
    const table = readTable(uri);
    if (table) return { contents: [table], ttlMs: designsKeptMs, cacheScope: 'public' as const };
    const path = lists.map(list => list.pathsOf(uri)).find(paths => paths !== undefined)?.list;
    if (path === undefined) throw refuse(`There is no resource ${uri.slice(0, 200)}`);
    const response = await traced(_meta)(path, { headers: { accept: 'application/json' } });
    const text = await response.text();
    if (!response.ok) throw refuse(`It cannot be read: ${problemIn(text, response.status)}`);
    return { contents: [{ uri, mimeType, text }] };
  });
  return server;
}

const mimeType = 'application/json';
const traceShape = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

function problemIn(text: string, status: number): string {
  try {
    return String((JSON.parse(text) as { detail?: unknown }).detail ?? status);
  } catch {
    return String(status);
  }
}

async function runTool(tool: Tool, input: Record<string, unknown>, call: Call) {
  let response: Response;
  try {
    const { path, init } = tool.request(input);
    response = await call(path, init);
  } catch (error) {
    if (!(error instanceof ToolInputError)) throw error;
    return { content: [{ type: 'text' as const, text: error.message }], isError: true };
  }
  const text = await response.text();
  const isJson = /[/+]json\b/.test(response.headers.get('content-type') ?? '');
  const value: unknown = isJson && text !== '' ? JSON.parse(text) : undefined;
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return {
    content: [{ type: 'text' as const, text: text === '' ? 'Done.' : text }],
    ...(isObject && response.ok && { structuredContent: value as Record<string, unknown> }),
    isError: !response.ok,
  };
}
