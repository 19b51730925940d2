import { setTimeout as sleep } from 'node:timers/promises';
import type { Customer } from '../server/customer.ts';
import { memoryOf } from '../server/memory.ts';
import type { ServerProcess } from '../server/process.ts';
import { messagesPath, settings } from './agents.ts';
import { type Chat, type ChatRequest, openChat } from './chat.ts';
import type { Model } from './model.ts';

export type ChatsSettings = {
  each: number; // of an end user
  together: number; // opened at a time
  comeBackEvery: number; // every nth chat disconnects in the middle of its answer
};
export type Chats = {
  chats: number;
  comeBacks: number;
  words: number; // sent by the model
  missed: number; // events: words and replies
  kilobytesEach?: number; // of the server's memory, for an open one; Linux only
};

const lookEveryMs = 20;

// Chats that stream answers from a model at the same time.
export async function measureChats(
  server: ServerProcess,
  customer: Customer,
  model: Model,
  { each, together, comeBackEvery }: ChatsSettings,
): Promise<Chats> {
  const { client, tenantId, endUsers } = customer;
  const body = { ...settings, ai_provider: 'openai-compatible', ai_model: 'bench' };
  await client.tenants.updateSettings({ tenant_id: tenantId, body }, { ifMatch: '*' });
  const begin = async (users: Customer['endUsers']): Promise<ChatRequest[]> => {
    const requests: ChatRequest[] = [];
    for (const { userId, token } of users)
      for (let i = 0; i < each; i++) {
        const conversation = { tenant_id: tenantId, body: { user_id: userId } };
        const { data } = await client.agents.createConversation(conversation);
        requests.push({ path: messagesPath(data.conversation_id, tenantId), token, body: saying });
      }
    return requests;
  };
  // A model has a minute for an answer: the last chat must be open before the first one times out.
  const openAll = async (requests: readonly ChatRequest[]): Promise<Chat[]> => {
    const chats: Chat[] = [];
    const waiting = [...requests];
    const open = async () => {
      for (let next = waiting.pop(); next; next = waiting.pop()) chats.push(await openChat(server.url, next));
    };
    await Promise.all(Array.from({ length: together }, open));
    while (!chats.every(chat => chat.hasBegun())) await sleep(lookEveryMs);
    return chats;
  };
  const finish = async (chats: readonly Chat[], returning: readonly Chat[]) => {
    await model.finish(); // which takes a second
    for (const chat of returning) await chat.comeBack();
    await Promise.all(chats.map(chat => chat.over()));
  };

  await finish(await openAll(await begin(endUsers.slice(0, 5))), []); // loads and compiles the code that makes answers
  const requests = await begin(endUsers);
  const saidBefore = (await model.count()).words;
  const before = memoryOf(server.pid);
  const chats = await openAll(requests);
  const after = memoryOf(server.pid);
  const returning = chats.filter((_, i) => i % comeBackEvery === 0);
  await finish(chats, returning);
  const words = (await model.count()).words - saidBefore;
  return {
    chats: chats.length,
    comeBacks: returning.length,
    words,
    missed: words + chats.length - chats.reduce((sum, chat) => sum + countEvents(chat), 0),
    ...(before && after && { kilobytesEach: ((after.privateMb - before.privateMb) * 1024) / chats.length }),
  };
}

const saying = { content: 'What do you think about the weather of last year?' };

// Counts the words that arrived, once each and in order, and the reply.
export function countEvents({ events }: Pick<Chat, 'events'>): number {
  const words = events
    .filter(({ event }) => event === 'delta')
    .flatMap(({ data }) => (JSON.parse(data) as { text: string }).text.trim().split(' '));
  const inOrder = words.filter((word, i) => word === `word-${i}`).length;
  const replies = events.filter(({ event }) => event === 'reply').length;
  return inOrder + Math.min(replies, 1);
}
