import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

// A model that runs on the reader's machine, as Ollama serves one: OpenAI's protocol, and an answer that is always
// the same.
export async function startModelServer(model: string, answer: string) {
  const server = createServer((request, response) => {
    request.resume();
    if (request.method === 'GET') {
      response.writeHead(200, { 'Content-Type': 'application/json' });
      return void response.end(JSON.stringify({ object: 'list', data: [{ id: model, object: 'model' }] }));
    }
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    const about = { id: 'c1', object: 'chat.completion.chunk', created: 1, model };
    const send = (chunk: object) => response.write(`data: ${JSON.stringify({ ...about, ...chunk })}\n\n`);
    for (const content of answer.split(/(?<= )/)) send({ choices: [{ index: 0, delta: { content } }] });
    send({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
    send({ choices: [], usage: { prompt_tokens: 30, completion_tokens: 8, total_tokens: 38 } });
    response.end('data: [DONE]\n\n');
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    close: () => new Promise<void>(resolve => server.close(() => resolve()).closeAllConnections()),
  };
}
