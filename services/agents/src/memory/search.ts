import { cutText } from '@stak/kit';
import { ref } from '@stak/table';
import type { Base, ModelDeps, Service } from '../deps.ts';
import { agentErrors } from '../errors.ts';
import * as limits from '../limits.ts';
import { conversation, conversationsOfUser, turn } from '../main-table.ts';
import { openBudget } from '../models/budget.ts';
import { turnPrincipal } from '../state/access.ts';
import { readTurns } from '../state/reads.ts';
import { isNotice, plainTurn, type TurnItem } from '../state/turn-items.ts';
import { type Forgotten, isAboutForgetting, readForgotten } from './forgotten.ts';
import { factsOf, hasDeclined, type Person, readMemory } from './memory.ts';
import { embedTexts, findNear, type Near, removeFactVectors } from './vectors.ts';
import { wordsOf } from './words.ts';

export type Hit = {
  conversation_id: string;
  seq: number | null;
  created_at: string;
  role: 'user' | 'assistant' | 'system' | 'fact';
  excerpt: string;
};
type SearchHit = { id: string; hit: Hit };

const mergeConstant = 60; // of reciprocal rank fusion: the first in one list counts even if it is last in the other

// Searches what the caller said and was answered, and what is remembered of them: by words and, with an embedding
// model, by meaning. Finds nothing that they had forgotten, and nothing at all of those who opted out of memory.
export async function searchMemory(
  service: Base & ModelDeps & Pick<Service, 'sealer' | 'enterTenant'>,
  signal: AbortSignal,
  person: Person,
  query: string,
): Promise<Hit[]> {
  if (await hasDeclined(service, person)) return [];
  const forgotten = await readForgotten(service, person);
  const [facts, near] = await Promise.all([
    readFacts(service, person),
    findByMeaning(service, signal, person, query),
  ]);
  const turns = await readRecent(service, person, forgotten, signal);
  const byWords = rankByWords(query, [...turns, ...facts]);
  const byMeaning = await readNear(service, person, near, { texts: [...turns, ...facts], forgotten }, query);
  const scores = new Map<string, { hit: Hit; score: number }>();
  for (const list of [byWords, byMeaning])
    list.slice(0, limits.candidates).forEach(({ id, hit }, rank) => {
      const score = (scores.get(id)?.score ?? 0) + 1 / (mergeConstant + rank);
      scores.set(id, { hit: scores.get(id)?.hit ?? hit, score });
    });
  return [...scores.values()]
    .sort((a, b) => b.score - a.score)
    .slice(0, limits.searchHits)
    .map(({ hit }) => hit);
}

type Text = { id: string; text: string; hit: Omit<Hit, 'excerpt'> };

async function readFacts(service: Pick<Service, 'store'>, person: Person): Promise<Text[]> {
  const { items } = await readMemory(service, person);
  return items.flatMap(item =>
    factsOf(item).map(({ fact_id, fact, created_at, seq = null }) => ({
      id: fact_id,
      text: fact,
      hit: { conversation_id: item.session_id, seq, created_at, role: 'fact' as const },
    })),
  );
}

// The newest conversations of the user, within the limits of a search by words.
async function readRecent(
  service: Pick<Service, 'store'>,
  { tenant_id, user_id }: Person,
  forgotten: Forgotten,
  signal: AbortSignal,
): Promise<Text[]> {
  const page = { limit: limits.searchedConversations };
  const { items } = await service.store.query(conversationsOfUser, { tenant_id, user_id }, page);
  const texts: Text[] = [];
  let left = limits.searchedBytes;
  for (const { conversation_id } of items) {
    if (left <= 0) break;
    signal.throwIfAborted();
    const head = await service.store.get(conversation, { tenant_id, conversation_id }, { consistent: true });
    if (head?.user_id !== user_id) continue; // the index may be out of date; the item is not
    const turns = await readTurns(service, head, head, limits.searchedTurns, left);
    for (const { messages } of turns) left -= Buffer.byteLength(messages);
    texts.push(
      ...turns
        .toReversed()
        .filter(isFound)
        .flatMap(item => textsOf(item, forgotten)),
    );
  }
  return texts;
}

// Every search would find earlier searches first.
const isFound = (item: TurnItem): boolean =>
  !item.skills?.includes('search_history') && !isAboutForgetting(item);

// A notice why there is no answer is not one.
const textsOf = (item: TurnItem, forgotten: Forgotten): Text[] =>
  (isNotice(item) ? plainTurn(item).slice(0, -1) : plainTurn(item))
    .map(({ role, content }, i) => ({
      id: `${idOfTurn(item)}#${i}`,
      text: content,
      hit: { conversation_id: item.conversation_id, seq: item.seq, created_at: item.created_at, role },
    }))
    .filter(({ text }) => !forgotten.has(text, item));

const idOfTurn = ({
  conversation_id,
  epoch,
  seq,
}: Pick<TurnItem, 'conversation_id' | 'epoch' | 'seq'>): string => `${conversation_id}#${epoch}#${seq}`;

// Rarer words count more; all words in a row count most. Newer texts come first among equals.
function rankByWords(query: string, texts: readonly Text[]): SearchHit[] {
  const asked = new Set(wordsOf(query));
  const wanted = [...asked];
  const words = texts.map(({ text }) => new Set(wordsOf(text).filter(word => asked.has(word))));
  const weights = new Map(
    wanted.map(word => [word, Math.log(1 + texts.length / (1 + words.filter(set => set.has(word)).length))]),
  );
  const phrase = query.toLowerCase();
  const total = wanted.reduce((sum, word) => sum + weights.get(word)!, 0);
  return texts
    .map(({ id, text, hit }, i) => {
      const matched = wanted.filter(word => words[i]!.has(word));
      const isWhole = text.toLowerCase().includes(phrase);
      const score = matched.reduce((sum, word) => sum + weights.get(word)!, 0) + (isWhole ? total : 0);
      return { id, score, hit: { ...hit, excerpt: excerptOf(text, isWhole ? phrase : (matched[0] ?? '')) } };
    })
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score);
}

function excerptOf(text: string, word: string): string {
  const at = Math.max(0, text.toLowerCase().indexOf(word));
  const from = Math.max(0, at - 80);
  const near = text.slice(from).replace(/^[\udc00-\udfff]/, ''); // half a character
  return cutText(near, at - from + word.length + 80).replace(/\s+/g, ' ');
}

// Empty if there is no embedding model, or it fails or exceeds the budget: then words are used alone.
async function findByMeaning(
  service: Base & ModelDeps & Pick<Service, 'enterTenant'>,
  signal: AbortSignal,
  person: Person,
  query: string,
): Promise<Near[]> {
  if (!service.models?.embedding) return [];
  const { tenant_id, user_id } = person;
  const tenant = await service.enterTenant(turnPrincipal(tenant_id, user_id), tenant_id);
  const budget = await openBudget(service, tenant, user_id);
  try {
    const [asked] = (await embedTexts(service, [query], budget, signal)) ?? [];
    return asked ? await findNear(service, person, asked) : [];
  } catch (error) {
    signal.throwIfAborted();
    if (!agentErrors.includes(error)) service.log.warn({ err: error }, 'a search was made by words only');
    return [];
  } finally {
    await budget.settle();
  }
}

// The texts of the vectors, if they still exist and belong to the user.
async function readNear(
  service: Pick<Service, 'store'>,
  { tenant_id, user_id }: Person,
  near: readonly Near[],
  { texts: known, forgotten }: { texts: readonly Text[]; forgotten: Forgotten },
  query: string,
): Promise<SearchHit[]> {
  const found: SearchHit[] = [];
  const lost: { fact_id: string }[] = [];
  const pick = (texts: readonly Text[]): SearchHit[] => {
    const [best] = rankByWords(query, texts);
    const [first] = texts;
    return best
      ? [best]
      : first
        ? [{ id: first.id, hit: { ...first.hit, excerpt: excerptOf(first.text, '') } }]
        : [];
  };
  for (const one of near) {
    if (one.kind === 'fact') {
      const fact = known.find(({ id }) => id === one.fact_id);
      if (fact) found.push(...pick([fact]));
      else lost.push(one);
      continue;
    }
    const ofTurn = known.filter(({ id }) => id.startsWith(`${idOfTurn(one)}#`));
    if (ofTurn.length > 0) {
      found.push(...pick(ofTurn));
      continue;
    }
    const { conversation_id, epoch, seq } = one;
    const key = { tenant_id, conversation_id };
    const { head, item } = await service.store.transactGet(
      { head: ref(conversation, key), item: ref(turn, { ...key, epoch, seq }) },
      { pattern: 'read what was found' },
    );
    if (item && isFound(item) && head?.user_id === user_id && head.epoch === epoch)
      found.push(...pick(textsOf(item, forgotten)));
  }
  await removeFactVectors(service, { tenant_id, user_id }, lost);
  return found;
}
