import { type WriteStep, write } from '@stak/table';
import { inSeconds } from '../../deps.ts';
import * as limits from './limits.ts';
import { written } from './tables.ts';

// How much accounts write in a day. An edit keeps no more than before, but the journal, the change log and the lake
// have each version.

export const dayOf = (nowMs: number): string => new Date(nowMs).toISOString().slice(0, 10);

export const addWritten = (account_id: string, slot: string, bytes: number, nowMs: number): WriteStep =>
  write.update(
    written,
    { account_id, day: dayOf(nowMs), slot },
    { add: { bytes }, set: { expires_at: inSeconds(nowMs) + limits.writtenS } },
    { upsert: true },
  );
