import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Command, Report } from './model.ts';

// Every answer is a sequence of numbered words, so that a reader can tell which are missing.

const everyMs = 10_000; // a model that is silent for longer than 20 s times out
const lastWords = 10;
const lastEveryMs = 100;

type Answering = { response: ServerResponse; words: number };
const answering = new Set<Answering>();
let words = 0;

const chunkOf = (choice: object): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'bench', choices: [{ index: 0, ...choice }] })}\n\n`;

function speak(answer: Answering): void {
  const delta = { role: 'assistant', content: `word-${answer.words++} ` };
  answer.response.write(chunkOf({ delta, finish_reason: null }));
  words += 1;
}

function end(answer: Answering): void {
  answering.delete(answer);
  answer.response.end(`${chunkOf({ delta: {}, finish_reason: 'stop' })}data: [DONE]\n\n`);
}

// Answers that begin meanwhile are finished by the next call.
function finish(): void {
  const all = [...answering];
  for (let i = 1; i <= lastWords; i++)
    setTimeout(() => {
      for (const answer of all) speak(answer);
      if (i === lastWords) for (const answer of all) end(answer);
    }, i * lastEveryMs);
}

const server = createServer((request, response) => {
  request.resume().on('end', () => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    const answer = { response, words: 0 };
    answering.add(answer);
    speak(answer);
  });
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
setInterval(() => {
  for (const answer of answering) speak(answer);
}, everyMs);
process.send!(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`);

process.on('message', (command: Command) => {
  if (command === 'finish') finish();
  process.send!({ answering: answering.size, words } satisfies Report);
});
process.once('disconnect', () => process.exit());
