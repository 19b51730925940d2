import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Chunk = Record<string, unknown>;
// biome-ignore lint/suspicious/noExplicitAny: what a test reads from a request, it names itself.
type ModelRequest = any;
type Usage = {
  prompt_tokens: number;
  completion_tokens: number;
  prompt_tokens_details?: { cached_tokens: number };
};
// What the server does with one request: events, a status, or nothing at all any more.
export type Behaviour = (asked: ModelRequest, stream: Stream) => void | Promise<void>;
export type Stream = {
  text(...parts: string[]): void;
  think(text: string): void;
  call(name: string, args: string, id?: string): void;
  finish(reason?: string, usage?: Usage): void;
  raw(text: string): void; // as it is, instead of a chunk
  refuse(status: number, headers?: Record<string, string>, message?: string): void;
  fail(message: string): void; // in the middle of an answer
  breakOff(): void;
  onGone(work: () => void): void; // the caller has closed the connection
};

// A server that speaks OpenAI's protocol, one behaviour for each request, the last one for all that follow.
export async function openStub(...behaviours: Behaviour[]) {
  const asked: ModelRequest[] = [];
  const server = createServer(async (request, response) => {
    if (request.method === 'GET') return void response.writeHead(404).end(); // it lists no models
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    asked.push(JSON.parse(Buffer.concat(chunks).toString()));
    const behaviour = behaviours[Math.min(asked.length, behaviours.length) - 1]!;
    await behaviour(asked.at(-1), streamOf(response));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    asked,
    baseURL: `http://127.0.0.1:${port}/v1`,
    close: () =>
      new Promise<void>(resolve => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

function streamOf(response: ServerResponse): Stream {
  const begin = () => {
    if (!response.headersSent) response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  };
  const send = (delta: Chunk, rest: Chunk = {}) => {
    begin();
    const chunk = {
      id: 'c1',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'stub',
      choices: [{ index: 0, delta, finish_reason: null }],
      ...rest,
    };
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  };
  return {
    text: (...parts) => {
      for (const content of parts) send({ role: 'assistant', content });
    },
    think: text => send({ role: 'assistant', reasoning_content: text }),
    call: (name, args, id = 'call_1') =>
      send({ tool_calls: [{ index: 0, id, type: 'function', function: { name, arguments: args } }] }),
    finish(reason = 'stop', usage = { prompt_tokens: 100, completion_tokens: 20 }) {
      send({}, { choices: [{ index: 0, delta: {}, finish_reason: reason }] });
      send(
        {},
        { choices: [], usage: { ...usage, total_tokens: usage.prompt_tokens + usage.completion_tokens } },
      );
      response.end('data: [DONE]\n\n');
    },
    raw(text) {
      begin();
      response.write(text);
    },
    refuse(status, headers = {}, message = 'no') {
      response.writeHead(status, { 'Content-Type': 'application/json', ...headers });
      response.end(JSON.stringify({ error: { message, type: 'refused' } }));
    },
    fail: message => void response.end(`data: ${JSON.stringify({ error: { message, type: message } })}\n\n`),
    breakOff: () => void response.destroy(),
    onGone: work => void response.on('close', work),
  };
}
