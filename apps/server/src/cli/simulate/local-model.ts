import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

// A model that always gives the same short answer, over OpenAI's protocol. It costs nothing, and is named in the settings
// of simulated tenants.

export const localModel = { ai_provider: 'openai-compatible', ai_model: 'simulated' } as const;

export async function openLocalModel(): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      const about = { id: 'answer', object: 'chat.completion.chunk', created: 1, model: localModel.ai_model };
      const send = (chunk: object) => response.write(`data: ${JSON.stringify({ ...about, ...chunk })}\n\n`);
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      const delta = { role: 'assistant', content: 'It arrives on Tuesday.' };
      send({ choices: [{ index: 0, delta, finish_reason: null }] });
      send({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
      send({ choices: [], usage: { prompt_tokens: 300, completion_tokens: 8, total_tokens: 308 } });
      response.end('data: [DONE]\n\n');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
