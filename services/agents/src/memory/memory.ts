import { versionMismatch } from '@stak/http';
import { failedCondition, type ItemOf, is, isRefused, type WriteStep, write } from '@stak/table';
import { tenantUser } from '@stak/tenants';
import type { z } from 'zod';
import { type Base, type Service, timestampOf } from '../deps.ts';
import { agentErrors } from '../errors.ts';
import * as limits from '../limits.ts';
import { retryOnConflict } from '../state/conflict-retry.ts';
import type { StateItem } from '../state/lease.ts';
import { noteForgotten } from './forgotten.ts';
import { type keyFact, memoriesOfUser, memory, memoryChoice } from './tables.ts';
import { removeAllVectors, removeFactVectors, removeVectors } from './vectors.ts';
import { wordsOf } from './words.ts';

export type Person = { tenant_id: string; user_id: string };
export type Fact = z.infer<typeof keyFact>;
export type MemoryItem = ItemOf<typeof memory>;

export type Remembered = { summary: string | undefined; items: MemoryItem[] };

const noMemory = () => agentErrors.create('agents.memory_not_found', 'Memory not found.');
const noUser = () => agentErrors.create('agents.user_not_found', 'User not found.');

export const factsOf = ({ key_facts }: Pick<MemoryItem, 'key_facts'>): Fact[] => {
  try {
    return JSON.parse(key_facts) as Fact[];
  } catch {
    return []; // written by another program
  }
};

const declined = () => agentErrors.create('agents.memory_declined', 'The user has opted out of memory.');

export const hasDeclined = async (
  { store }: Pick<Service, 'store'>,
  { tenant_id, user_id }: Person,
): Promise<boolean> =>
  (await store.get(memoryChoice, { tenant_id, user_id }, { consistent: true })) !== undefined;

// By their last change: names of sessions have no order.
export const newestFirst = (items: readonly MemoryItem[]): MemoryItem[] =>
  items.toSorted((a, b) => (a.updated_at < b.updated_at ? 1 : -1));

// The memory for a turn; empty for a user who opted out.
export async function readMemory(
  service: Pick<Service, 'store'>,
  { tenant_id, user_id }: Person,
): Promise<Remembered> {
  const key = { tenant_id, user_id };
  const [isDeclined, user, page] = await Promise.all([
    hasDeclined(service, key),
    service.store.get(tenantUser, key),
    service.store.query(memoriesOfUser, key, { limit: limits.memorySessions }),
  ]);
  return isDeclined
    ? { summary: undefined, items: [] }
    : { summary: user?.memory_summary, items: newestFirst(page.items) };
}

// The opt-out is checked in the same transaction, so it always wins.
async function unlessDeclined(
  { store }: Pick<Service, 'store'>,
  { tenant_id, user_id }: Person,
  step: WriteStep,
): Promise<void> {
  const choice = write.check(memoryChoice, { tenant_id, user_id }, { absent: true });
  try {
    await store.transact({ 'the choice': choice, 'the memory': step }, { pattern: 'remember' });
  } catch (error) {
    throw failedCondition(error, 'the choice') ? declined() : error;
  }
}

// Two facts with the same words are one.
export const sameFact = (fact: string): string => wordsOf(fact).join(' ') || fact;

// As many facts as an item takes, and those that are dropped. Facts that the user asked to remember are kept; of the
// learnt ones, the oldest are dropped first.
export function fitFacts(facts: readonly Fact[]): [kept: Fact[], dropped: Fact[]] {
  const surplus = Math.max(0, facts.length - limits.factsPerItem);
  const dropped = facts.filter(({ source }) => source === 'conversation').slice(0, surplus);
  return [facts.filter(fact => !dropped.includes(fact)), dropped];
}

// Adds a fact to the memory of its conversation, unless it is known from any of them.
export async function rememberFact(
  service: Base & Pick<Service, 'random'>,
  { tenant_id, user_id }: Person,
  { conversation_id, seq }: { conversation_id: string; seq: number | undefined },
  fact: string,
): Promise<Fact> {
  if (await hasDeclined(service, { tenant_id, user_id })) throw declined();
  const key = { tenant_id, user_id, session_id: conversation_id };
  const all = await service.store.query(
    memoriesOfUser,
    { tenant_id, user_id },
    { limit: limits.memorySessions },
  );
  const elsewhere = all.items.filter(item => item.session_id !== conversation_id).flatMap(factsOf);
  return retryOnConflict(service, async () => {
    const before = await service.store.get(memory, key, { consistent: true });
    const known = before ? factsOf(before) : [];
    const same = [...known, ...elsewhere].find(one => sameFact(one.fact) === sameFact(fact));
    if (same) return same;
    const at = timestampOf(service.clock.now());
    const fact_id = service.ids.next('fact');
    const added = { fact_id, fact, created_at: at, source: 'user', ...(seq !== undefined && { seq }) };
    const [facts, dropped] = fitFacts([...known, added]);
    if (facts.length > limits.factsPerItem)
      throw agentErrors.create('agents.memory_full', `There are already ${limits.factsPerItem} facts.`);
    const item = {
      ...key,
      ...before,
      key_facts: JSON.stringify(facts),
      created_at: before?.created_at ?? at,
      updated_at: at,
    };
    const asRead = before ? { ifVersion: before.version } : ({ ifAbsent: true } as const);
    await unlessDeclined(service, key, write.put(memory, item, asRead));
    await removeFactVectors(service, key, dropped);
    return added;
  });
}

// Removes every fact that contains all the words, in all sessions, and hides what was said with them. Returns the
// removed facts.
export async function forgetFacts(
  service: Pick<Service, 'store' | 'clock' | 'random' | 'sealer'>,
  person: Person,
  words: string,
): Promise<string[]> {
  const wanted = wordsOf(words);
  if (wanted.length === 0) return [];
  const gone: string[] = [];
  const key = { tenant_id: person.tenant_id, user_id: person.user_id };
  await noteForgotten(service, key, { words: wanted });
  const isMeant = (text: string) => {
    const known = new Set(wordsOf(text));
    return wanted.every(word => known.has(word));
  };
  const without = (text: string) =>
    sentencesOf(text)
      .filter(sentence => !isMeant(sentence))
      .join(' ');
  for await (const item of service.store.all(memoriesOfUser, key)) {
    const meant = factsOf(item).filter(({ fact }) => isMeant(fact));
    const isSummarized = item.summary !== undefined && isMeant(item.summary);
    if (meant.length === 0 && !isSummarized) continue;
    await changeMemory(service, item, before => ({
      ...(before?.summary !== undefined && isMeant(before.summary) && { summary: without(before.summary) }),
      facts: before ? factsOf(before).filter(({ fact }) => !isMeant(fact)) : [],
    })).catch(ifGone);
    gone.push(...meant.map(({ fact }) => fact));
  }
  return gone;
}

const ifGone = (error: unknown): void => {
  if (!agentErrors.includes(error) || error.code !== 'agents.memory_not_found') throw error;
};

const sentencesOf = (text: string): string[] => text.match(/[^.!?\n]+[.!?]*/g)?.map(one => one.trim()) ?? [];

// Forgets what was learnt from a deleted conversation. What the user asked to remember, or wrote, stays.
const forgetSession = async (
  service: Pick<Service, 'store' | 'clock' | 'random' | 'sealer'>,
  person: Person,
  session_id: string,
): Promise<void> => {
  const key = { tenant_id: person.tenant_id, user_id: person.user_id, session_id };
  await changeMemory(service, key, before => ({
    summary: null,
    facts: before ? factsOf(before).filter(({ source }) => source !== 'conversation') : [],
    isFound: true, // what was said in other conversations stays
  })).catch(ifGone);
};

// Forgets what is left of earlier epochs of a conversation.
export async function forgetConversation(
  service: Pick<Service, 'store' | 'clock' | 'random' | 'sealer'>,
  known: StateItem,
): Promise<void> {
  const { tenant_id, conversation_id, forgets, recalled_by } = known;
  if (forgets !== undefined) await forgetSession(service, { tenant_id, user_id: forgets }, conversation_id);
  if (recalled_by !== undefined) await removeVectors(service, recalled_by, known);
}

// `isFound`: what the facts were learnt from is still found.
export type MemoryChange = { summary?: string | null; facts?: readonly Fact[]; isFound?: boolean };

// Writes the item if it is new. An item without a summary and facts is deleted.
export async function changeMemory(
  service: Pick<Service, 'store' | 'clock' | 'random' | 'sealer'>,
  { tenant_id, user_id, session_id }: Person & { session_id: string },
  change: (before: MemoryItem | undefined) => MemoryChange,
  expected?: string,
): Promise<MemoryItem> {
  const key = { tenant_id, user_id, session_id };
  let isForgetting = false;
  let isFound = false;
  let gone: Fact[] = [];
  const item = await retryOnConflict(service, async () => {
    const before = await service.store.get(memory, key, { consistent: true });
    if (expected !== undefined && expected !== String(before?.version)) throw versionMismatch();
    const changed = change(before);
    const { summary = before?.summary, facts = before ? factsOf(before) : [] } = changed;
    isFound = changed.isFound === true;
    const updated_at = timestampOf(service.clock.now());
    const after = {
      ...key,
      ...before,
      summary: summary || undefined,
      key_facts: JSON.stringify(facts),
      created_at: before?.created_at ?? updated_at,
      updated_at,
    };
    if (before && hasLost(before, after)) {
      isForgetting = true;
      const kept = new Set(facts.map(fact => `${fact.fact_id} ${fact.fact}`));
      gone = factsOf(before).filter(one => !kept.has(`${one.fact_id} ${one.fact}`));
      await dropAbout(service, key);
    }
    if (!summary && facts.length === 0) {
      if (!before) throw noMemory();
      await service.store.delete(memory, key, { ifVersion: before.version });
      return { ...after, version: before.version };
    }
    const asRead = before ? { ifVersion: before.version } : ({ ifAbsent: true } as const);
    await unlessDeclined(service, key, write.put(memory, after, asRead));
    return { ...after, version: (before?.version ?? 0) + 1 };
  });
  if (isForgetting) await renewAbout(service, key);
  if (!isFound) await noteForgottenFacts(service, key, gone);
  await removeFactVectors(service, key, gone);
  return item;
}

const hasLost = (before: MemoryItem, after: Pick<MemoryItem, 'summary' | 'key_facts'>): boolean => {
  const kept = new Set(factsOf(after).map(({ fact }) => fact));
  return before.summary !== after.summary || factsOf(before).some(({ fact }) => !kept.has(fact));
};

export async function deleteMemory(
  service: Pick<Service, 'store' | 'clock' | 'random' | 'sealer'>,
  key: Person & { session_id: string },
): Promise<void> {
  const { tenant_id, user_id, session_id } = key;
  await dropAbout(service, key);
  const before = await service.store.get(memory, { tenant_id, user_id, session_id }, { consistent: true });
  const isGone = await service.store.delete(memory, { tenant_id, user_id, session_id });
  if (before) {
    await noteForgottenFacts(service, key, factsOf(before));
    await removeFactVectors(service, key, factsOf(before));
  }
  await renewAbout(service, key);
  if (!isGone) throw noMemory();
}

const noteForgottenFacts = (
  service: Pick<Service, 'store' | 'clock' | 'random' | 'sealer'>,
  { session_id, ...person }: Person & { session_id: string },
  facts: readonly Fact[],
): Promise<void> => noteForgotten(service, person, { facts: facts.map(fact => ({ ...fact, session_id })) });

const isGenerated = { memory_edited_at: is.absent };

// The user's summary may contain what is being forgotten, so it is removed first and then composed from what is left.
async function dropAbout({ store }: Pick<Service, 'store'>, { tenant_id, user_id }: Person): Promise<void> {
  const change = { remove: ['memory_summary', 'memory_updated_at'] as const };
  const options = { if: { ...isGenerated, memory_summary: is.present }, pattern: 'forget' };
  await store.update(tenantUser, { tenant_id, user_id }, change, options).catch(ifRefused);
}

async function renewAbout(
  service: Pick<Service, 'store' | 'clock'>,
  { tenant_id, user_id }: Person,
): Promise<void> {
  const { items } = await service.store.query(
    memoriesOfUser,
    { tenant_id, user_id },
    { limit: limits.memorySessions },
  );
  const memory_summary = composeAbout(items);
  if (memory_summary === undefined) return;
  const set = { memory_summary, memory_updated_at: timestampOf(service.clock.now()) };
  const condition = { ...isGenerated, memory_summary: is.absent };
  await unlessDeclined(
    service,
    { tenant_id, user_id },
    write.update(tenantUser, { tenant_id, user_id }, { set }, { if: condition }),
  ).catch(error => {
    if (!agentErrors.includes(error)) ifRefused(error);
  });
}

const ifRefused = (error: unknown): void => {
  if (!isRefused(error)) throw error; // written meanwhile, or there is no such user
};

// A summary of a user without a model: the summaries of the newest sessions.
export function composeAbout(items: readonly MemoryItem[]): string | undefined {
  const lines: string[] = [];
  let chars = 0;
  for (const line of newestFirst(items).flatMap(({ summary = '' }) => summary.split('\n'))) {
    if (line === '' || lines.includes(line)) continue;
    chars += line.length + 1;
    if (chars > limits.extractChars) break;
    lines.push(line);
  }
  return lines.length === 0 ? undefined : lines.join('\n');
}

export async function writeSummary(
  service: Pick<Service, 'store' | 'clock'>,
  { tenant_id, user_id }: Person,
  summary: string | null,
): Promise<void> {
  const { store, clock } = service;
  const key = { tenant_id, user_id };
  try {
    if (summary === null)
      await store.update(
        tenantUser,
        key,
        { remove: ['memory_summary', 'memory_updated_at', 'memory_edited_at'] },
        { pattern: 'remove a memory summary' },
      );
    else {
      const at = timestampOf(clock.now());
      const set = { memory_summary: summary, memory_updated_at: at, memory_edited_at: at };
      await unlessDeclined(service, key, write.update(tenantUser, key, { set }));
    }
  } catch (error) {
    throw isRefused(error) ? noUser() : error;
  }
}

export async function readSummary({ store }: Pick<Service, 'store'>, { tenant_id, user_id }: Person) {
  const user = await store.get(tenantUser, { tenant_id, user_id }, { consistent: true });
  return { memory_summary: user?.memory_summary ?? null, memory_updated_at: user?.memory_updated_at ?? null };
}

// The opt-out first, so that nothing is remembered after it; then everything is deleted.
export async function declineMemory(
  service: Pick<Service, 'store' | 'clock'>,
  { tenant_id, user_id }: Person,
): Promise<void> {
  const { store, clock } = service;
  await store.put(memoryChoice, { tenant_id, user_id, declined_at: timestampOf(clock.now()) });
  for await (const { session_id } of store.all(memoriesOfUser, { tenant_id, user_id }))
    await store.delete(memory, { tenant_id, user_id, session_id });
  await removeAllVectors(service, { tenant_id, user_id });
  await writeSummary(service, { tenant_id, user_id }, null).catch(error => {
    if (!agentErrors.includes(error)) throw error; // a user without a record has no summary either
  });
}

export const allowMemory = async (
  { store }: Pick<Service, 'store'>,
  { tenant_id, user_id }: Person,
): Promise<void> => {
  await store.delete(memoryChoice, { tenant_id, user_id });
};
