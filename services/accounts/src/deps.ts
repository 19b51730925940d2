import { hash } from 'node:crypto';
import type { Clock, Ids, Logger } from '@stak/kit';
import type { Store } from '@stak/table';

// Shared by every part of accounts.
export type Base = { store: Store; clock: Clock; ids: Ids; log: Logger };

// Notifies every process, before the write, that a session or a key of these accounts ends.
export type AnnounceEnd = (...accountIds: (string | undefined)[]) => Promise<void>;

// Erases a service's data of a deleted account: a bounded piece of work per call, until it returns 'done'. Safe to
// repeat after a crash.
export type AccountEraser = {
  name: string;
  eraseAccount?(accountId: string): Promise<'done' | 'more'>;
};

export const isoTime = (nowMs: number): string => new Date(nowMs).toISOString();
export const inSeconds = (ms: number): number => Math.floor(ms / 1000);
export const sha256 = (text: string): string => hash('sha256', text);
