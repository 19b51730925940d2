import { text } from 'node:stream/consumers';
import { styleText } from 'node:util';
import { type Client, StakError } from '@stak/client';
import { UsageError } from '../../config/errors.ts';
import { readOptional, readText } from '../../config/flags.ts';
import { type ConnectFlags, connect } from '../connection.ts';
import { withoutCommands } from '../print.ts';
import { converse } from './chat-session.ts';

export type ChatFlags = ConnectFlags & {
  tenant?: unknown;
  user?: unknown;
  conversation?: unknown;
  agent?: unknown;
};

// A turn may take the server two minutes; then it fails with a reason.
const answerMs = 150_000;

export async function chat(flags: ChatFlags, given: string): Promise<void> {
  const tenant_id = readText('--tenant', flags.tenant);
  const user_id = readText('--user', flags.user);
  const wanted = readOptional('--conversation', flags.conversation);
  const agent = readOptional('--agent', flags.agent);
  if (wanted !== undefined && agent !== undefined)
    throw new UsageError('--agent is for a new conversation: leave out --conversation');
  const isTerminal = process.stdin.isTTY === true;
  const message = given || (isTerminal ? undefined : (await text(process.stdin)).trim());
  if (message === '') throw new UsageError('what do you want to say? like stak chat … "Hello"');

  const { client } = await connect(flags);
  const talk = { tenant_id, user_id };
  let conversation_id = wanted;
  if (conversation_id !== undefined) await checkUser(client, { ...talk, conversation_id });
  const say = async (content: string, signal?: AbortSignal) => {
    conversation_id ??= await begin(client, talk, agent);
    printAnswer(await ask(client, { ...talk, conversation_id }, content, signal));
  };
  if (message !== undefined) return say(message);
  await converse({ input: process.stdin, output: process.stderr, say });
}

type Talk = { tenant_id: string; user_id: string };
type ConversationFlags = Talk & { conversation_id: string };

// A host may write in every conversation of its tenant, so a wrong user name would not be refused. A new conversation
// starts with the first message.
async function checkUser(client: Client, { user_id, ...conversation }: ConversationFlags): Promise<void> {
  try {
    const { data } = await client.agents.getConversation(conversation);
    if (user_id !== 'me' && data.user_id !== user_id)
      throw new UsageError(
        `${conversation.conversation_id} is a conversation of ${data.user_id ?? 'no user'}`,
      );
  } catch (error) {
    if (!(error instanceof StakError) || error.code !== 'agents.conversation_not_found') throw error;
  }
}

async function begin(
  client: Client,
  { tenant_id, user_id }: Talk,
  agent: string | undefined,
): Promise<string> {
  const { data } = await client.agents.createConversation({ tenant_id, body: { user_id, agent } });
  whisper(`a new conversation: continue it later with --conversation ${data.conversation_id}`);
  return data.conversation_id;
}

type Reply = Awaited<ReturnType<Client['agents']['getReply']>>['data'];
type Answered = Extract<Reply, { status: 'answered' }>;

async function ask(
  client: Client,
  { tenant_id, user_id, conversation_id }: ConversationFlags,
  content: string,
  signal: AbortSignal | undefined,
): Promise<Answered> {
  const conversation = { tenant_id, conversation_id };
  const options = { signal, timeoutMs: answerMs };
  let { data } = await client.agents.sendMessage({ ...conversation, body: { content, user_id } }, options);
  // Another message is in progress. The server holds each request until there is news.
  while (data.status === 'waiting')
    ({ data } = await client.agents.getReply({ ...conversation, message_id: data.message_id }, options));
  return data;
}

function printAnswer(answer: Answered): void {
  console.log(withoutCommands(answer.reply.content));
  whisper(figuresOf(answer));
}

export function figuresOf({ routing, rule, skills, model, usage, cost_usd }: Answered): string {
  return [
    rule === null ? routing : `${routing} ${rule}`,
    ...(skills.length > 0 ? [`used ${skills.join(', ')}`] : []),
    model ?? 'no model',
    `${usage.input_tokens} tokens in, ${usage.output_tokens} out`,
    `$${Number(cost_usd.toFixed(6))}`,
  ].join(' · ');
}

const whisper = (line: string): void =>
  console.error(process.stderr.isTTY === true ? styleText('dim', line) : line);
