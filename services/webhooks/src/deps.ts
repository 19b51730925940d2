import type { CursorCodec, MemoryRateLimits } from '@stak/http';
import type { Clock, Ids, Logger, Owners, Random, Sealer } from '@stak/kit';
import type { Outbound } from '@stak/outbound';
import type { Attributes, Store, WriteStep } from '@stak/table';
import type { Alert } from './main-table.ts';

// What an account may do, as far as webhooks care.
export type AccountPlan = {
  eventsPerMinute: number;
  eventsPerMonth: number;
  retentionSeconds: number;
  bodyBytes?: number; // the largest body it may receive, if less than everybody's
};

export type WebhookDeps = {
  store: Store;
  clock: Clock;
  ids: Ids;
  log: Logger;
  random?: Random;
  owners?: Owners; // who of those that hold leases is gone; without it leases run out
  cursors: CursorCodec<Attributes>;
  sealer: Pick<Sealer, 'seal' | 'openText'>;
  outbound: Outbound;
  planOf(userId: string): Promise<AccountPlan>;
  usageOf(userId: string): Promise<{ events: number; since: string }>; // of this month, as far as they are counted
  usageStep(userId: string, events: number): Promise<WriteStep>; // adds to it
  requestsPerSource?: number; // a minute, whatever they bring
  // Whether the account may store so many bytes more; always, if nobody says.
  hasRoom?(userId: string, bytes: number): Promise<boolean>;
  rates?: MemoryRateLimits; // of sources and plans; of this process alone, if nobody says
  raiseAlert?(alert: Alert): Promise<void>;
  publicUrl?: string; // where senders reach us: some of them sign it
};

// What every part works with.
export type Base = Pick<WebhookDeps, 'store' | 'clock' | 'ids' | 'log'> & { random: Random };

export const isoTime = (nowMs: number): string => new Date(nowMs).toISOString();
export const inSeconds = (ms: number): number => Math.floor(ms / 1000);
