import { emptyReply, newMessageKey, type Reply, streamReply } from '@stak/client';
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

// A message that is not part of the conversation yet, and as much of its answer as has arrived.
export type Talk = Reply & { key: string; content: string };

const talkKey = ({ tenant_id, conversation_id }: ConversationPath) =>
  ['talk', tenant_id, conversation_id] as const;

export const useTalk = (conversationPath: ConversationPath): Talk | null =>
  useQuery<Talk | null>({ queryKey: talkKey(conversationPath), queryFn: skipToken }).data ?? null;

// Kept in the tab's storage until it is answered, so that a reload does not lose it.
const indexOfSaved = (conversationPath: ConversationPath): string => talkKey(conversationPath).join(' ');
const savedMs = 10 * 60_000; // no answer takes longer, and an old message must not be sent again by opening a tab
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

// Continues while the user is on other pages. When they return, they see the answer so far.
export async function say(
  queries: QueryClient,
  conversationPath: ConversationPath,
  content: string,
  key = newMessageKey(),
): Promise<void> {
  let talk: Talk = { ...emptyReply, key, content };
  const isOn = () => queries.getQueryData<Talk | null>(talkKey(conversationPath))?.key === key;
  const become = (next: Talk) => {
    talk = next;
    // It may have ended meanwhile, because the conversation was cleared or the user signed out.
    if (isOn()) queries.setQueryData(talkKey(conversationPath), talk);
  };
  queries.setQueryData(talkKey(conversationPath), talk);
  sessionStorage.setItem(
    indexOfSaved(conversationPath),
    JSON.stringify({ key, content, atMs: Date.now() } satisfies Saved),
  );
  try {
    for await (const reply of streamReply(clientSettings, { ...conversationPath, content, key })) {
      if (reply.isWaiting && !talk.isWaiting)
        void queries.invalidateQueries({ queryKey: approvalsKey(conversationPath) });
      become({ ...talk, ...reply });
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
