import type { ItemOf } from '@stak/table';
import type { conversation, message, turn } from '../main-table.ts';
import { type PlainMessage, parseMessages, plainMessages } from './message-format.ts';

export type Head = ItemOf<typeof conversation>;
export type TurnItem = ItemOf<typeof turn>;
export type MessageItem = ItemOf<typeof message>;
export type NewTurn = Omit<TurnItem, 'tenant_id' | 'conversation_id' | 'epoch' | 'seq' | 'created_at'>;

// Never uses an epoch twice, even if a conversation is deleted and created again with the same id.
export const nextEpoch = (epoch: number, nowMs: number): number =>
  Math.max(epoch + 1, Math.floor(nowMs / 1000));

// The question was not answered, and the turn says why.
export const isNotice = ({ rule }: Pick<NewTurn, 'rule'>): boolean =>
  rule === 'no_model' || rule === 'budget';

export const plainTurn = (item: Pick<TurnItem, 'messages'>): PlainMessage[] =>
  plainMessages(parseMessages(item.messages));
