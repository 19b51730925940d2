import { type ApiTypes, createClientFor, type ServerEvent } from '@stak/client';
import { type QueryClient, skipToken, useQuery } from '@tanstack/react-query';
import { clientSettings, messageOf } from '../../../queries/api.ts';
import {
  approvalsKey,
  type ConversationPath,
  conversationKey,
  conversationsKey,
  turnsKey,
  usageKey,
} from '../queries.ts';

// What was said and is not part of the conversation yet.
export type Talk = {
  key: string;
  content: string;
  text: string; // of the answer, as far as it is there
  skills: readonly string[]; // that were used for it
  isWaiting?: boolean; // for an approval
  seq?: number; // of the turn, once it is kept
  failure?: string;
};

export const beginTalk = (key: string, content: string): Talk => ({ key, content, text: '', skills: [] });

// What an event makes of it.
export function hear(talk: Talk, { event, data }: Pick<ServerEvent, 'event' | 'data'>): Talk {
  const said = data as { text?: string; name?: string; seq?: number; detail?: string };
  if (event === 'delta') return { ...talk, text: talk.text + (said.text ?? '') };
  if (event === 'skill') return { ...talk, skills: [...talk.skills, said.name ?? ''] };
  if (event === 'waiting' || event === 'resumed') return { ...talk, isWaiting: event === 'waiting' };
  if (event === 'restart') return { ...talk, text: '', skills: [] };
  if (event === 'reply') return { ...talk, seq: said.seq };
  if (event === 'error') return { ...talk, failure: said.detail ?? 'There is no answer.' };
  return talk;
}

// The typed client waits for the whole answer; here it is taken as the events it is made of. The same key brings the
// same answer, so a connection that broke goes on in the middle of it.
type Say = { args: ApiTypes['agents.sendMessage']['args'] & { 'idempotency-key': string }; event: unknown };
const live = createClientFor<{ 'agents.say': Say }>(
  {
    'agents.say': {
      method: 'POST',
      path: '/v1/tenants/{tenant_id}/conversations/{conversation_id}/messages',
      body: 'json',
      headers: ['idempotency-key'],
      isStream: true,
    },
  },
  clientSettings,
);

const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint32Array(4)), part => part.toString(36)).join('-');

const talkKey = ({ tenant_id, conversation_id }: ConversationPath) =>
  ['talk', tenant_id, conversation_id] as const;

export const useTalk = (conversationPath: ConversationPath): Talk | null =>
  useQuery<Talk | null>({ queryKey: talkKey(conversationPath), queryFn: skipToken }).data ?? null;

// Kept by the tab until there is an answer: after a reload, the user finds what they said and can continue.
const indexOfSaved = (conversationPath: ConversationPath): string => talkKey(conversationPath).join(' ');
const savedMs = 10 * 60_000; // no answer takes that long, and nobody wants to say an old thing again by opening a tab
type Saved = { key: string; content: string; atMs: number };

export function resumeTalk(queries: QueryClient, conversationPath: ConversationPath): void {
  if (queries.getQueryData(talkKey(conversationPath))) return;
  const { key, content, atMs } = JSON.parse(
    sessionStorage.getItem(indexOfSaved(conversationPath)) ?? '{}',
  ) as Partial<Saved>;
  if (key !== undefined && content !== undefined && Date.now() - atMs! < savedMs)
    void say(queries, conversationPath, content, key);
}

export const endTalk = (queries: QueryClient, conversationPath: ConversationPath): void =>
  void queries.setQueryData(talkKey(conversationPath), null);

// Continues while the user is on other pages: when they come back, they see the answer as far as it has come.
export async function say(
  queries: QueryClient,
  conversationPath: ConversationPath,
  content: string,
  key = newKey(),
): Promise<void> {
  let talk = beginTalk(key, content);
  const isOn = () => queries.getQueryData<Talk | null>(talkKey(conversationPath))?.key === key;
  const become = (next: Talk) => {
    talk = next;
    // It may have been ended meanwhile, by clearing the conversation or by signing out.
    if (isOn()) queries.setQueryData(talkKey(conversationPath), talk);
  };
  queries.setQueryData(talkKey(conversationPath), talk);
  sessionStorage.setItem(
    indexOfSaved(conversationPath),
    JSON.stringify({ key, content, atMs: Date.now() } satisfies Saved),
  );
  try {
    const message = { ...conversationPath, body: { content }, 'idempotency-key': key };
    for await (const event of live.agents.say(message)) {
      become(hear(talk, event));
      if (event.event === 'waiting')
        void queries.invalidateQueries({ queryKey: approvalsKey(conversationPath) });
    }
  } catch (error) {
    become({ ...talk, failure: messageOf(error) });
  }
  sessionStorage.removeItem(indexOfSaved(conversationPath));
  const { tenant_id } = conversationPath;
  await Promise.all(
    [
      turnsKey(conversationPath),
      conversationKey(conversationPath),
      conversationsKey(tenant_id),
      usageKey(tenant_id),
    ].map(queryKey => queries.invalidateQueries({ queryKey })),
  );
  if (talk.failure === undefined && isOn()) endTalk(queries, conversationPath);
}
