import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Random } from '@stak/kit';
import { z } from 'zod';
import { type Said, type Says, startModel, textOf } from '../model-server.ts';

// An agent talks to these, and nobody kills them: a model, an MCP server and a custom skill that take a while. All keep
// count.

export type Outside = {
  env: Record<string, string>; // how the server finds them
  mcpUrl: string;
  skillUrl: string;
  paid: Map<number, number>; // how often, by the number that the call carried; never more than once
  noted: Map<number, number>; // may be repeated
  ordered: Map<number, Set<string>>; // the ids of the calls; one that is repeated has the same
  violations: string[]; // that only the model sees
  summaries: () => number;
  close(): Promise<void>;
};

const count = (counts: Map<number, number>, n: number) => counts.set(n, (counts.get(n) ?? 0) + 1);
const isSummary = ([first]: readonly Said[]): boolean => /You keep the memory/.test(textOf(first!));
const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms));

export async function openOutside(random: Random): Promise<Outside> {
  const [paid, noted] = [new Map<number, number>(), new Map<number, number>()];
  const ordered = new Map<number, Set<string>>();
  const violations: string[] = [];
  let summaries = 0;

  const describeShop = () => {
    const shop = new McpServer({ name: 'shop', version: '1' });
    const work =
      (counts: Map<number, number>, text: string) =>
      async ({ n }: { n: number }) => {
        count(counts, n);
        await pause(random() * 200); // done, and nobody has heard of it yet
        return { content: [{ type: 'text' as const, text: `${text} ${n}.` }] };
      };
    const inputSchema = { n: z.number() };
    shop.registerTool('pay', { description: 'Pays.', inputSchema }, work(paid, 'Paid'));
    const annotations = { idempotentHint: true };
    shop.registerTool('note', { description: 'Notes.', inputSchema, annotations }, work(noted, 'Noted'));
    return shop;
  };
  const takeOrder = async (request: IncomingMessage, response: ServerResponse) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { n } = (JSON.parse(body) as { arguments: { n: number } }).arguments;
    ordered.set(n, (ordered.get(n) ?? new Set()).add(String(request.headers['webhook-id'])));
    await pause(random() * 200);
    response.end(`Ordered ${n}.`);
  };
  const tools = createServer(async (request, response) => {
    if (request.url === '/order') return takeOrder(request, response);
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
    response.on('close', () => void transport.close());
    await describeShop().connect(transport as never);
    await transport.handleRequest(request, response);
  });
  await new Promise<void>(resolve => tools.listen(0, '127.0.0.1', resolve));
  const toolsUrl = `http://127.0.0.1:${(tools.address() as AddressInfo).port}`;

  // A summary says up to which turn it goes, so that the next one shows whether a turn was left out or came twice.
  function summarise(text: string): Says {
    summaries += 1;
    const { earlier_summary = 'up to 0', turns } = JSON.parse(text) as {
      earlier_summary?: string;
      turns: { turn: number }[];
    };
    const last = Number(/up to (\d+)/.exec(earlier_summary)?.[1]);
    if (turns[0]!.turn !== last + 1)
      violations.push(`a summary goes on with turn ${turns[0]!.turn} after ${earlier_summary}`);
    const summary = `up to ${turns.at(-1)!.turn}`;
    const facts = turns.map(({ turn }) => ({ fact: `The user took turn ${turn}.`, turn, replaces: [] }));
    return { text: JSON.stringify({ summary, about: summary, facts }) };
  }
  function answer(messages: readonly Said[]): Says {
    const last = messages.at(-1)!;
    if (last.role === 'tool') return { text: `What came of it: ${textOf(last)}` };
    const text = textOf(last);
    if (isSummary(messages)) return summarise(text);
    const [, tool, n] = /^(pay|note|order) (\d+)$/.exec(text) ?? [];
    if (tool === undefined) return { text: `You said: ${text}` };
    return { call: tool === 'order' ? tool : `mcp_shop_${tool}`, input: { n: Number(n) } };
  }
  // A summary takes longer than an answer, so that some of them are cut off.
  const model = await startModel(answer, messages => random() * (isSummary(messages) ? 1_500 : 100));

  return {
    env: {
      STAK_OPENAI_URL: model.url,
      STAK_MODEL: 'openai-compatible/local',
      STAK_OUTBOUND_ALLOW: '127.0.0.0/8',
    },
    mcpUrl: `${toolsUrl}/mcp`,
    skillUrl: `${toolsUrl}/order`,
    paid,
    noted,
    ordered,
    violations,
    summaries: () => summaries,
    async close() {
      await model.close();
      await new Promise<void>(resolve => tools.close(() => resolve()).closeAllConnections());
    },
  };
}
