import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Said = { role: string; content: string | readonly { text?: string }[] };
export type Says = { text: string } | { call: string; input: unknown; id?: string };

// A model on this machine that speaks OpenAI's protocol. `answer` chooses its reply from the messages so far.
export async function startModel(
  answer: (messages: readonly Said[]) => Says,
  delayMs: (messages: readonly Said[]) => number = () => 0,
) {
  let asked = 0;
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    if (request.url?.endsWith('/embeddings')) {
      const { input } = JSON.parse(body) as { input: string[] };
      const data = input.map((_, index) => ({ object: 'embedding', index, embedding: [1, 0] }));
      response.writeHead(200, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify({ object: 'list', data, usage: { prompt_tokens: 5, total_tokens: 5 } }));
      return;
    }
    asked += 1;
    const { messages } = JSON.parse(body) as { messages: Said[] };
    const said = answer(messages);
    const waitMs = delayMs(messages);
    if (waitMs > 0) await new Promise(resolve => setTimeout(resolve, waitMs));
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    const about = { id: `c${asked}`, object: 'chat.completion.chunk', created: 1, model: 'local' };
    const send = (chunk: object) => response.write(`data: ${JSON.stringify({ ...about, ...chunk })}\n\n`);
    const step = (delta: object, finish_reason: string | null = null) =>
      send({ choices: [{ index: 0, delta, finish_reason }] });
    if ('text' in said) step({ role: 'assistant', content: said.text });
    else {
      const { call: name, input, id = `call_${asked}` } = said;
      const called = { name, arguments: JSON.stringify(input) };
      step({ role: 'assistant', tool_calls: [{ index: 0, id, type: 'function', function: called }] });
    }
    step({}, 'text' in said ? 'stop' : 'tool_calls');
    send({ choices: [], usage: { prompt_tokens: 30, completion_tokens: 8, total_tokens: 38 } });
    response.end('data: [DONE]\n\n');
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    asked: () => asked,
    close: () => new Promise<void>(resolve => server.close(() => resolve()).closeAllConnections()),
  };
}

export const textOf = ({ content }: Said): string =>
  typeof content === 'string' ? content : content.map(part => part.text ?? '').join('');
