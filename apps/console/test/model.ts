import { EventEmitter, on, once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Answer = { say(...parts: string[]): void; finish(): void };
export type Model = { url: string; isAsked(): Promise<Answer>; close(): void };

const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };
const about = { id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'parrot' };

// Speaks OpenAI's protocol; the test controls what it answers, and when.
export async function openModel(): Promise<Model> {
  const requests = new EventEmitter();
  const asked = on(requests, 'asked'); // listens from the start, so that no request is missed
  const server = createServer((request, response) => {
    request.resume();
    if (request.method === 'GET') return void response.writeHead(404).end(); // no list of models
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    requests.emit('asked', answerOf(response));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    isAsked: async () => (await asked.next()).value[0] as Answer,
    close: () => void server.close().closeAllConnections(),
  };
}

function answerOf(response: ServerResponse): Answer {
  const send = (chunk: object) => response.write(`data: ${JSON.stringify({ ...about, ...chunk })}\n\n`);
  const choose = (delta: object, finish_reason: string | null) =>
    send({ choices: [{ index: 0, delta, finish_reason }] });
  return {
    say(...parts) {
      for (const content of parts) choose({ role: 'assistant', content }, null);
    },
    finish() {
      choose({}, 'stop');
      send({ choices: [], usage });
      response.end('data: [DONE]\n\n');
    },
  };
}
