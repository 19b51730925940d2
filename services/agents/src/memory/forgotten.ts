import { type NamedStep, write } from '@stak/table';
import type { Service } from '../deps.ts';
import * as limits from '../limits.ts';
import { retryOnConflict } from '../state/conflict-retry.ts';
import { plainTurn, type TurnItem } from '../state/turn-items.ts';
import type { Person } from './memory.ts';
import { forgotten } from './tables.ts';
import { wordsOf } from './words.ts';

// The log of a conversation keeps what was said in it until it is deleted. What a user had forgotten is left out where
// earlier conversations are searched and summarised: texts up to that moment with all of these words, and the turns from
// which a forgotten fact was learnt.
type Entry = { at: number; words?: string[]; turn?: { session_id: string; seq: number } };
export type ForgottenFact = { fact: string; session_id: string; seq?: number };
type Said = { conversation_id: string; seq: number | null; created_at: string };

export type Forgotten = {
  has(text: string, said: Said): boolean;
  hasTurn(item: TurnItem): boolean;
  // Nothing more was forgotten since it was read.
  readonly unchanged: NamedStep;
};

const sealLocation = ({ tenant_id, user_id }: Person) => `tenants TENANT#${tenant_id} FORGOTTEN#${user_id}`;
const keyOf = ({ tenant_id, user_id }: Person): Person => ({ tenant_id, user_id });

const readEntries = async ({ store, sealer }: Pick<Service, 'store' | 'sealer'>, person: Person) => {
  const item = await store.get(forgotten, keyOf(person), {
    consistent: true,
    pattern: 'read what is forgotten',
  });
  const entries = item ? (JSON.parse(sealer.openText(item.sealed, sealLocation(person))) as Entry[]) : [];
  return { entries, version: item?.version };
};

export async function noteForgotten(
  service: Pick<Service, 'store' | 'clock' | 'random' | 'sealer'>,
  person: Person,
  { words = [], facts = [] }: { words?: string[]; facts?: readonly ForgottenFact[] },
): Promise<void> {
  const at = service.clock.now();
  const added: Entry[] = [
    ...(words.length > 0 ? [{ at, words }] : []),
    ...facts.map(({ fact, session_id, seq }) => ({
      at,
      words: wordsOf(fact),
      ...(seq !== undefined && { turn: { session_id, seq } }),
    })),
  ];
  if (added.length === 0) return;
  const { store, sealer } = service;
  const seal = (entries: readonly Entry[]) => sealer.seal(JSON.stringify(entries), sealLocation(person));
  await retryOnConflict(service, async () => {
    const { entries, version } = await readEntries(service, person);
    const kept = [...entries, ...added].slice(-limits.forgottenKept);
    const asRead = version === undefined ? ({ ifAbsent: true } as const) : { ifVersion: version };
    return store.put(forgotten, { ...keyOf(person), sealed: seal(kept) }, asRead);
  });
}

export async function readForgotten(
  service: Pick<Service, 'store' | 'sealer'>,
  person: Person,
): Promise<Forgotten> {
  const { entries, version } = await readEntries(service, person);
  const has = (text: string, { conversation_id, seq, created_at }: Said): boolean => {
    const saidMs = Date.parse(created_at);
    const meant = entries.filter(({ at }) => saidMs <= at);
    if (meant.length === 0) return false;
    const words = new Set(wordsOf(text));
    return meant.some(
      ({ words: all = [], turn }) =>
        (turn?.session_id === conversation_id && turn.seq === seq) ||
        (all.length > 0 && all.every(word => words.has(word))),
    );
  };
  const asRead =
    version === undefined ? ({ absent: true } as const) : { present: true as const, if: { version } };
  return {
    has,
    hasTurn: item => isAboutForgetting(item) || plainTurn(item).some(({ content }) => has(content, item)),
    unchanged: ['what is forgotten', write.check(forgotten, keyOf(person), asRead)],
  };
}

// It names what is to be forgotten.
export const isAboutForgetting = ({ skills = [] }: Pick<TurnItem, 'skills'>): boolean =>
  skills.includes('forget');

export const eraseForgotten = ({ store }: Pick<Service, 'store'>, person: Person): Promise<unknown> =>
  store.delete(forgotten, keyOf(person));
