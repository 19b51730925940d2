import type { Change } from '@stak/streams';
import type { AnyEntity, Attributes } from '@stak/table';
import type { Letter } from '../storage/manifest-state.ts';
import { keyPart } from '../storage/objects.ts';
import type { Plan } from '../tables.ts';
import { imageOf } from './image.ts';

// A change that could not be turned into a row, stored whole with the reason until the cause is repaired.

type Stored = {
  shard: string;
  error: string;
  entity: string | undefined;
  kind: Change<AnyEntity>['kind'];
  sequence: string;
  eventId: string;
  at: number;
  keys: Attributes;
  old: Attributes | undefined;
  new: Attributes | undefined;
};

const errorChars = 2000;

export type NewLetter = { letter: Omit<Letter, 'generation'>; body: Uint8Array };

export function writeLetter(plan: Plan, shard: string, change: Change<AnyEntity>, cause: unknown): NewLetter {
  const { entity, kind, sequence, eventId, keys } = change;
  const about = entity === undefined ? undefined : plan.entities.get(entity);
  // The account may not want texts in the lake, so a letter contains none.
  const plain = (item: Attributes | undefined) =>
    item && !about?.text ? (JSON.parse(imageOf(item, about?.omit)) as Attributes) : undefined;
  const error = (cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)).slice(
    0,
    errorChars,
  );
  const at = change.at.getTime();
  const images = { old: plain(change.old), new: plain(change.new) };
  const stored: Stored = { shard, error, entity, kind, sequence, eventId, at, keys, ...images };
  const path = `dead-letters/${keyPart(plan.table.name)}/${keyPart(shard)}-${sequence}.json`;
  const [reason = ''] = error.split('\n');
  return { letter: { path, sequence, error: reason, at }, body: Buffer.from(JSON.stringify(stored)) };
}

export function openLetter(body: Uint8Array): { shard: string; change: Change<AnyEntity> } {
  const { shard, error: _, at, ...rest } = JSON.parse(Buffer.from(body).toString('utf8')) as Stored;
  return { shard, change: { ...rest, at: new Date(at) } as Change<AnyEntity> };
}
