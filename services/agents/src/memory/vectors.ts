import { type ItemOf, write } from '@stak/table';
import type { EmbeddingModel } from 'ai';
import type { Service } from '../deps.ts';
import * as limits from '../limits.ts';
import { conversationsOfUser } from '../main-table.ts';
import type { Budget } from '../models/budget.ts';
import { ModelFault, ModelTimeout, withoutPrompt } from '../models/model-call.ts';
import { inModelSpan } from '../models/model-span.ts';
import { type ModelName, modelText } from '../models/models.ts';
import { tokensOf } from '../state/context-window.ts';
import type { ConversationKey, StateItem } from '../state/lease.ts';
import type { Person } from './memory.ts';
import { factVector, turnVector, vectorsOfConversation, vectorsOfUser } from './tables.ts';

// Embeds texts with the operator's embedding model, within the budget. Undefined if there is no such model.
export async function embedTexts(
  { models, clock }: Pick<Service, 'clock' | 'models'>,
  texts: readonly string[],
  budget: Budget,
  signal: AbortSignal,
): Promise<Uint8Array[] | undefined> {
  if (!models?.embedding) return undefined;
  const { name, find } = models.embedding;
  const model = await find();
  const vectors: Uint8Array[] = [];
  for (let from = 0; from < texts.length; from += limits.embeddedTogether) {
    const values = texts.slice(from, from + limits.embeddedTogether);
    await budget.reserve(name, Buffer.byteLength(values.join('')), 0);
    const { embeddings, usage } = await withDeadline(clock, signal, late =>
      callModel(name, model, values, late),
    ).catch(error => {
      throw withoutPrompt(error);
    });
    const reported =
      Number.isInteger(usage.tokens) && usage.tokens > 0 ? usage.tokens : tokensOf(values.join(''));
    budget.spend(name, Math.min(reported, limits.tokensReported), 0);
    vectors.push(...embeddings.map(toBytes));
  }
  return vectors;
}

const callModel = (name: ModelName, model: EmbeddingModel, values: string[], abortSignal: AbortSignal) =>
  inModelSpan('embeddings', name, async span => {
    const { embedMany } = await import('ai');
    const result = await embedMany({ model, values, abortSignal, maxRetries: 1 });
    if (result.embeddings.length !== values.length)
      throw new ModelFault('the embedding model left something out');
    span.setAttribute('gen_ai.usage.input_tokens', result.usage.tokens);
    return result;
  });

async function withDeadline<T>(
  clock: Service['clock'],
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const late = new AbortController();
  clock.sleep(limits.embedMs, over.signal).then(
    () => late.abort(new ModelTimeout(`The embedding model took longer than ${limits.embedMs} ms`)),
    () => {},
  );
  try {
    return await work(AbortSignal.any([signal, late.signal]));
  } finally {
    over.abort('over');
  }
}

// Only directions are compared, so a byte per dimension is enough: a quarter of the size, and the same order except for
// texts that are equally near.
function toBytes(vector: readonly number[]): Uint8Array {
  const most = vector.reduce((max, value) => Math.max(max, Math.abs(value)), 0) || 1;
  return new Uint8Array(Int8Array.from(vector, value => Math.round((value / most) * 127)).buffer);
}

const signed = (bytes: Uint8Array): Int8Array =>
  new Int8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);

function cosine(a: Int8Array, b: Int8Array): number {
  if (a.length !== b.length) return -1;
  let dot = 0;
  let ofA = 0;
  let ofB = 0;
  for (let i = 0; i < a.length; i++) {
    dot += a[i]! * b[i]!;
    ofA += a[i]! * a[i]!;
    ofB += b[i]! * b[i]!;
  }
  return ofA > 0 && ofB > 0 ? dot / Math.sqrt(ofA * ofB) : -1;
}

export type Near =
  | { kind: 'turn'; conversation_id: string; epoch: number; seq: number; score: number }
  | { kind: 'fact'; fact_id: string; score: number };

type Vector =
  | { entity: 'vector of a fact'; item: ItemOf<typeof factVector> }
  | { entity: 'vector of a turn'; item: ItemOf<typeof turnVector> };

// One query reads all of them, up to the limit. If there are more: the facts, whose keys come first, and the turns of
// the latest conversations.
async function readVectors(
  { store }: Pick<Service, 'store'>,
  { tenant_id, user_id }: Person,
): Promise<Vector[]> {
  const person = { tenant_id, user_id };
  const all: Vector[] = [];
  for await (const one of store.all(vectorsOfUser, person)) {
    all.push(one);
    if (all.length > limits.vectorsOfUser) break;
  }
  if (all.length <= limits.vectorsOfUser) return all;
  const newest = all.filter(({ entity }) => entity === 'vector of a fact');
  for await (const { conversation_id } of store.all(conversationsOfUser, person)) {
    const key = { ...person, conversation_id };
    for await (const item of store.all(vectorsOfConversation, key, { newestFirst: true })) {
      if (newest.length >= limits.vectorsOfUser) return newest;
      newest.push({ entity: 'vector of a turn', item });
    }
  }
  return newest;
}

// The nearest of the user's own vectors, by comparing all of them.
export async function findNear(
  service: Pick<Service, 'store' | 'models'>,
  person: Person,
  asked: Uint8Array,
): Promise<Near[]> {
  const model = modelText(service.models!.embedding!.name);
  const wanted = signed(asked);
  const near: Near[] = [];
  for (const one of await readVectors(service, person)) {
    if (one.item.model !== model) continue;
    const score = cosine(signed(one.item.vector), wanted);
    if (one.entity === 'vector of a fact') near.push({ kind: 'fact', fact_id: one.item.fact_id, score });
    else {
      const { conversation_id, epoch, seq } = one.item;
      near.push({ kind: 'turn', conversation_id, epoch, seq, score });
    }
  }
  return near.sort((a, b) => b.score - a.score).slice(0, limits.candidates);
}

export type ToEmbed = { text: string } & (
  | { kind: 'turn'; conversation_id: string; epoch: number; seq: number }
  | { kind: 'fact'; fact_id: string }
);

export async function writeVectors(
  service: Pick<Service, 'store' | 'clock' | 'models'>,
  { tenant_id, user_id }: Person,
  items: readonly ToEmbed[],
  budget: Budget,
  signal: AbortSignal,
): Promise<void> {
  const vectors = await embedTexts(
    service,
    items.map(({ text }) => text),
    budget,
    signal,
  );
  if (!vectors || vectors.length === 0) return;
  const model = modelText(service.models!.embedding!.name);
  const steps = items.map((item, i) => {
    const shared = { tenant_id, user_id, model, vector: vectors[i]! };
    if (item.kind === 'fact') return write.put(factVector, { ...shared, fact_id: item.fact_id });
    const { conversation_id, epoch, seq } = item;
    return write.put(turnVector, { ...shared, conversation_id, epoch, seq });
  });
  await service.store.batchWrite(steps, { pattern: 'write vectors' });
}

// The vectors of a conversation's earlier epochs.
export async function removeVectors(
  { store }: Pick<Service, 'store'>,
  user_id: string,
  { tenant_id, conversation_id, epoch }: Pick<StateItem, keyof ConversationKey | 'epoch'>,
): Promise<void> {
  const key = { tenant_id, user_id, conversation_id };
  for (;;) {
    const page = { before: { epoch }, limit: limits.purgeTogether };
    const { items } = await store.query(vectorsOfConversation, key, page);
    if (items.length === 0) return;
    await store.batchWrite(
      items.map(item => write.delete(turnVector, item)),
      { pattern: 'remove vectors' },
    );
  }
}

export const removeFactVectors = async (
  { store }: Pick<Service, 'store'>,
  { tenant_id, user_id }: Person,
  facts: readonly { fact_id: string }[],
): Promise<void> => {
  const steps = facts.map(({ fact_id }) => write.delete(factVector, { tenant_id, user_id, fact_id }));
  if (steps.length > 0) await store.batchWrite(steps, { pattern: 'remove vectors' });
};

// All vectors of a user who opted out.
export async function removeAllVectors(
  { store }: Pick<Service, 'store'>,
  { tenant_id, user_id }: Person,
): Promise<void> {
  for (;;) {
    const { items } = await store.query(
      vectorsOfUser,
      { tenant_id, user_id },
      { limit: limits.purgeTogether },
    );
    if (items.length === 0) return;
    await store.batchWrite(
      items.map(vector =>
        vector.entity === 'vector of a fact'
          ? write.delete(factVector, vector.item)
          : write.delete(turnVector, vector.item),
      ),
      { pattern: 'remove vectors' },
    );
  }
}
