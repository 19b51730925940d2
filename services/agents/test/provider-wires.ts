import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { EventStreamCodec } from '@smithy/eventstream-codec';
import type { ModelsConfig } from '../src/index.ts';

// What each provider's servers send, in the shapes they document.

type ToolCall = { id: string; name: string; input: object };
export type Reply = { status: number; headers?: Record<string, string>; body: string | Buffer };

export type Wire = {
  provider: string;
  model: string;
  path: RegExp;
  configure(url: string): ModelsConfig;
  text(...parts: string[]): Reply;
  calls(...calls: ToolCall[]): Reply;
  refusal: Reply;
  truncated: Reply; // text, and then the end of the stream
  tooLong: Reply;
  // Reads from a request how many messages it has, and the results of tools in it.
  messages(body: ModelRequest): unknown[];
};
// biome-ignore lint/suspicious/noExplicitAny: what a wire reads from a request, it names itself.
type ModelRequest = any;

const sse = (events: readonly object[], named = false): Reply => ({
  status: 200,
  headers: { 'content-type': 'text/event-stream' },
  body: events
    .map(event => {
      const name = named ? `event: ${(event as { type: string }).type}\n` : '';
      return `${name}data: ${JSON.stringify(event)}\n\n`;
    })
    .join(''),
});
const problem = (status: number, body: object): Reply => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

function anthropic(): Wire {
  const start = {
    type: 'message_start',
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude-sonnet-4-5-20250929',
      content: [],
      stop_reason: null,
      usage: { input_tokens: 100, output_tokens: 1 },
    },
  };
  const end = (stop_reason: string) => [
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 20 } },
    { type: 'message_stop' },
  ];
  const block = (index: number, content_block: object, deltas: readonly object[]) => [
    { type: 'content_block_start', index, content_block },
    ...deltas.map(delta => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
  const said = (parts: readonly string[]) =>
    block(
      0,
      { type: 'text', text: '' },
      parts.map(text => ({ type: 'text_delta', text })),
    );
  return {
    provider: 'anthropic',
    model: 'claude-sonnet-4-5',
    path: /\/messages$/,
    configure: baseURL => ({ anthropic: { apiKey: 'key', baseURL } }),
    text: (...parts) => sse([start, ...said(parts), ...end('end_turn')], true),
    calls: (...calls) =>
      sse(
        [
          start,
          ...calls.flatMap(({ id, name, input }, i) =>
            block(i, { type: 'tool_use', id, name, input: {} }, [
              { type: 'input_json_delta', partial_json: JSON.stringify(input) },
            ]),
          ),
          ...end('tool_use'),
        ],
        true,
      ),
    refusal: sse([start, ...end('refusal')], true),
    truncated: sse([start, ...said(['Half an ans']).slice(0, -1)], true),
    tooLong: problem(400, {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'prompt is too long: 210000 tokens > 200000 maximum' },
    }),
    messages: body => body.messages,
  };
}

function openai(): Wire {
  const start = {
    type: 'response.created',
    response: { id: 'resp_1', created_at: 1, model: 'gpt-5-mini', service_tier: null },
  };
  const usage = { input_tokens: 100, output_tokens: 20 };
  const end = { type: 'response.completed', response: { usage, incomplete_details: null } };
  const said = (events: readonly object[]) => [
    { type: 'response.output_item.added', output_index: 0, item: { type: 'message', id: 'm1' } },
    ...events,
    { type: 'response.output_item.done', output_index: 0, item: { type: 'message', id: 'm1' } },
  ];
  const deltas = (parts: readonly string[]) =>
    parts.map(delta => ({ type: 'response.output_text.delta', item_id: 'm1', delta }));
  const call = ({ id, name, input }: ToolCall, output_index: number) => {
    const item = { type: 'function_call', id: `fc_${id}`, call_id: id, name };
    const args = JSON.stringify(input);
    const at = { item_id: `fc_${id}`, output_index };
    return [
      { type: 'response.output_item.added', output_index, item: { ...item, arguments: '' } },
      { type: 'response.function_call_arguments.delta', ...at, delta: args },
      {
        type: 'response.output_item.done',
        output_index,
        item: { ...item, arguments: args, status: 'completed' },
      },
    ];
  };
  return {
    provider: 'openai',
    model: 'gpt-5-mini',
    path: /\/responses$/,
    configure: baseURL => ({ openai: { apiKey: 'key', baseURL } }),
    text: (...parts) => sse([start, ...said(deltas(parts)), end]),
    calls: (...calls) => sse([start, ...calls.flatMap(call), end]),
    refusal: sse([
      start,
      ...said([{ type: 'response.refusal.delta', item_id: 'm1', delta: 'I cannot help with that.' }]),
      end,
    ]),
    truncated: sse([start, ...said(deltas(['Half an ans'])).slice(0, -1)]),
    tooLong: problem(400, {
      error: {
        message: 'Your input exceeds the context window of this model.',
        type: 'invalid_request_error',
        code: 'context_length_exceeded',
      },
    }),
    messages: body =>
      body.input.filter((one: { role?: string }) => one.role !== 'developer' && one.role !== 'system'),
  };
}

function google(): Wire {
  const usageMetadata = { promptTokenCount: 100, candidatesTokenCount: 20, totalTokenCount: 120 };
  const chunk = (parts: readonly object[], finishReason?: string) => ({
    candidates: [{ content: { role: 'model', parts }, index: 0, ...(finishReason && { finishReason }) }],
    ...(finishReason && { usageMetadata }),
  });
  return {
    provider: 'google',
    model: 'gemini-2.5-flash',
    path: /\/models\/gemini-2\.5-flash:streamGenerateContent\?alt=sse$/,
    configure: baseURL => ({ google: { apiKey: 'key', baseURL } }),
    text: (...parts) => sse([...parts.map(text => chunk([{ text }])), chunk([], 'STOP')]),
    calls: (...calls) =>
      sse([
        chunk(
          calls.map(({ name, input }) => ({ functionCall: { name, args: input } })),
          'STOP',
        ),
      ]),
    refusal: sse([chunk([], 'SAFETY')]),
    truncated: sse([chunk([{ text: 'Half an ans' }])]),
    tooLong: problem(400, {
      error: {
        code: 400,
        status: 'INVALID_ARGUMENT',
        message: 'The input token count (1050000) exceeds the maximum number of tokens allowed (1048576).',
      },
    }),
    messages: body => body.contents,
  };
}

function bedrock(): Wire {
  const codec = new EventStreamCodec(
    bytes => Buffer.from(bytes).toString(),
    text => Buffer.from(text),
  );
  const stream = (events: readonly [string, object][]): Reply => ({
    status: 200,
    headers: { 'content-type': 'application/vnd.amazon.eventstream' },
    body: Buffer.concat(
      events.map(([type, body]) =>
        codec.encode({
          headers: {
            ':event-type': { type: 'string', value: type },
            ':content-type': { type: 'string', value: 'application/json' },
            ':message-type': { type: 'string', value: 'event' },
          },
          body: Buffer.from(JSON.stringify(body)),
        }),
      ),
    ),
  });
  const start: [string, object] = ['messageStart', { role: 'assistant' }];
  const end = (stopReason: string): [string, object][] => [
    ['messageStop', { stopReason }],
    ['metadata', { usage: { inputTokens: 100, outputTokens: 20, totalTokens: 120 } }],
  ];
  const said = (parts: readonly string[]): [string, object][] => [
    ...parts.map((text): [string, object] => [
      'contentBlockDelta',
      { contentBlockIndex: 0, delta: { text } },
    ]),
    ['contentBlockStop', { contentBlockIndex: 0 }],
  ];
  return {
    provider: 'bedrock',
    model: 'claude-sonnet-4-5-20250929', // as the document has it
    path: /\/model\/eu\.anthropic\.claude-sonnet-4-5-20250929-v1%3A0\/converse-stream$/,
    configure: baseURL => ({
      bedrock: { region: 'eu-central-1', accessKeyId: 'id', secretAccessKey: 'secret', baseURL },
    }),
    text: (...parts) => stream([start, ...said(parts), ...end('end_turn')]),
    calls: (...calls) =>
      stream([
        start,
        ...calls.flatMap(({ id, name, input }, i): [string, object][] => [
          ['contentBlockStart', { contentBlockIndex: i, start: { toolUse: { toolUseId: id, name } } }],
          [
            'contentBlockDelta',
            { contentBlockIndex: i, delta: { toolUse: { input: JSON.stringify(input) } } },
          ],
          ['contentBlockStop', { contentBlockIndex: i }],
        ]),
        ...end('tool_use'),
      ]),
    refusal: stream([start, ...end('content_filtered')]),
    truncated: stream([start, ...said(['Half an ans'])]),
    tooLong: problem(400, { message: 'Input is too long for requested model.' }),
    messages: body => body.messages,
  };
}

function compatible(): Wire {
  const chunk = (delta: object, finish_reason: string | null = null, usage?: object) => ({
    id: 'c1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'llama3.2',
    choices: [{ index: 0, delta, finish_reason }],
    ...(usage && { usage }),
  });
  const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };
  const deltas = (parts: readonly string[]) => parts.map(content => chunk({ role: 'assistant', content }));
  return {
    provider: 'openai-compatible',
    model: 'llama3.2',
    path: /\/chat\/completions$/,
    configure: baseURL => ({ openaiCompatible: { baseURL } }),
    text: (...parts) => sse([...deltas(parts), chunk({}, 'stop', usage)]),
    calls: (...calls) =>
      sse([
        chunk({
          tool_calls: calls.map(({ id, name, input }, index) => ({
            index,
            id,
            type: 'function',
            function: { name, arguments: JSON.stringify(input) },
          })),
        }),
        chunk({}, 'tool_calls', usage),
      ]),
    refusal: sse([
      chunk({ role: 'assistant', refusal: 'I cannot help with that.' }),
      chunk({}, 'stop', usage),
    ]),
    truncated: sse(deltas(['Half an ans'])),
    tooLong: problem(400, {
      error: {
        message: "This model's maximum context length is 8192 tokens.",
        type: 'invalid_request_error',
        code: 'context_length_exceeded',
      },
    }),
    messages: body => body.messages.filter((one: { role: string }) => one.role !== 'system'),
  };
}

export const wires: readonly Wire[] = [anthropic(), bedrock(), google(), openai(), compatible()];

// Answers each request with the next reply, the last one for all that follow. GET is for lists of models.
export async function openWire(replies: readonly Reply[], list?: object) {
  const asked: { url: string; body: ModelRequest }[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    if (request.method === 'GET') {
      response.writeHead(list ? 200 : 404, { 'content-type': 'application/json' });
      return void response.end(JSON.stringify(list ?? {}));
    }
    asked.push({ url: request.url!, body: JSON.parse(body) });
    const reply = replies[Math.min(asked.length, replies.length) - 1]!;
    response.writeHead(reply.status, reply.headers).end(reply.body);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    asked,
    url: `http://127.0.0.1:${port}`,
    close: () => new Promise<void>(resolve => server.close(() => resolve()).closeAllConnections()),
  };
}
