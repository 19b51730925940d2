import { mcpResource, resourceMetadataPath } from '@stak/accounts';
import { type Api, parseJson } from '@stak/http';
import { parseUrl } from '@stak/kit';
import { isLoopback } from '../config/loopback.ts';
import { type Call, readLiveLists } from './mcp-resources.ts';
import { answer } from './mcp-server.ts';
import { isWithin, readTools, type Tool } from './mcp-tools.ts';

// The Model Context Protocol over Streamable HTTP: the API's own operations as tools, called with the caller's
// credential: an API key, or the token of an app that a person authorised, which is valid for nothing else. There are
// no sessions, so any process can handle any request. https://modelcontextprotocol.io/specification

const jsonDepth = 40; // the body of an operation is nested in a message
const bodyBytes = 1024 * 1024; // of one message; the largest body of an operation that is a tool
const batchMessages = 20; // their responses are written at once; the list of tools alone has some hundred kilobytes
const tooLarge = {
  jsonrpc: '2.0',
  error: { code: -32600, message: `Send at most ${bodyBytes} bytes, and say how many` },
  id: null,
};
const tooMany = {
  jsonrpc: '2.0',
  error: { code: -32600, message: `Send at most ${batchMessages} messages together` },
  id: null,
};
const notJson = {
  jsonrpc: '2.0',
  error: { code: -32700, message: 'The body is not JSON, is nested too deep, or has too many fields' },
  id: null,
};
const unknownCaller = {
  jsonrpc: '2.0',
  error: { code: -32001, message: 'Send an API key or a token: Authorization: Bearer …' },
  id: null,
};

const foreignPage = {
  jsonrpc: '2.0',
  error: { code: -32600, message: 'Pages of this origin may not call: see STAK_CORS_ORIGINS' },
  id: null,
};

export function mountMcp(
  { app, mount, routes, withBody }: Pick<Api, 'app' | 'mount' | 'routes' | 'withBody'>,
  publicUrl: string,
  corsOrigins: readonly string[],
): void {
  const resource = mcpResource(publicUrl);
  const origins = new Set([new URL(publicUrl).origin, ...corsOrigins]);
  // Required by the specification, against DNS rebinding: a page whose name resolves to us is still foreign.
  const isForeign = (origin: string): boolean =>
    !origins.has(origin) && !isLoopback(parseUrl(origin)?.hostname ?? '');
  // Tells an app how to get a token (RFC 9728, 5.1).
  const challenge = `Bearer realm="stak", resource_metadata="${publicUrl}${resourceMetadataPath}"`;
  let tools: Promise<readonly Tool[]> | undefined;
  const lists = readLiveLists(routes);
  const unguarded = 'each message is answered by routes, with the credential of its caller';
  mount({ method: 'all', path: '/mcp', unguarded }, async c => {
    // Without sessions there is nothing to listen to or to end.
    if (c.req.method !== 'POST') return c.body(null, 405, { Allow: 'POST' });
    const origin = c.req.header('origin');
    if (origin !== undefined && isForeign(origin)) return c.json(foreignPage, 403);
    const authorization = c.req.header('authorization');
    const forwarded = c.req.header('x-forwarded-for');
    // Passes on the caller's address, so that its limits count, but not this request's body.
    const env = { remoteAddress: c.env?.remoteAddress ?? c.env?.incoming?.socket.remoteAddress, resource };
    const call: Call = async (path, init) => {
      const headers = new Headers(init.headers);
      if (authorization) headers.set('authorization', authorization);
      if (forwarded !== undefined) headers.set('x-forwarded-for', forwarded);
      return app.request(path, { ...init, headers }, env);
    };
    const known = authorization ? await call('/v1/whoami', {}) : undefined;
    if (!known || known.status === 401)
      return c.json(unknownCaller, 401, {
        'WWW-Authenticate': known ? `${challenge}, error="invalid_token"` : challenge,
      });
    if (!known.ok) return known; // too many requests, or the store is unavailable
    const length = c.req.header('content-length');
    if (length === undefined) return c.json(tooLarge, 411);
    if (!(Number(length) <= bodyBytes)) return c.json(tooLarge, 413);
    return withBody(c, bodyBytes, async body => {
      const messages = parseMessages(body);
      if (messages === undefined) return c.json(notJson, 400);
      const count = Array.isArray(messages) ? messages.length : 1;
      if (count > batchMessages) return c.json(tooMany, 400);
      // Each message of a batch counts as a request: a response may be a thousand times as long as its request.
      for (let counted = 1; counted < count; counted++) {
        const again = await call('/v1/whoami', {});
        if (!again.ok) return again;
      }
      tools ??= readTools(routes);
      const caller = (await known.json()) as Parameters<typeof isWithin>[0];
      const all = await tools;
      const offer = {
        all,
        offered: all.filter(tool => isWithin(caller, tool)),
        lists: lists.filter(list => isWithin(caller, list)),
      };
      return answer(c.req.raw, messages, offer, call);
    });
  });
}

function parseMessages(body: Uint8Array): unknown {
  try {
    return parseJson(body, jsonDepth).value;
  } catch {
    return undefined;
  }
}
