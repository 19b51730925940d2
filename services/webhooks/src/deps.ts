import type { CursorCodec, MemoryRateLimits } from '@stak/http';
import type { Clock, Ids, Logger, Owners, Random, Sealer } from '@stak/kit';
import type { Outbound } from '@stak/outbound';
import type { Attributes, DueShards, Store, WriteStep } from '@stak/table';
import type { AnswerWatch } from './delivery/answer-watch.ts';
import type { Alert } from './main-table.ts';

// The limits of an account that webhooks enforce.
export type AccountPlan = {
  eventsPerMinute: number;
  eventsPerMonth: number;
  retentionSeconds: number;
  bodyBytes?: number; // the largest body, if below the limit for everyone
};

export type EventShare = { userId: string; percent: number; eventsPerMonth: number; since: string };

// From how many deliveries on that wait for nothing but this process requests are delayed, and refused.
export type OwedLimits = { delayed: number; most: number };

export type WebhookDeps = {
  store: Store;
  clock: Clock;
  ids: Ids;
  log: Logger;
  random?: Random;
  owners?: Owners; // detects which lease owners are dead; without it, their leases have to expire
  // Moves with every change of a table, by any process. Without it, the queue is read once a second.
  changePosition?(): number;
  dueShards?: number; // of the queue, at least; a store keeps the highest number that it ever had
  cursors: CursorCodec<Attributes>;
  sealer: Pick<Sealer, 'seal' | 'openText'>;
  outbound: Outbound;
  planOf(userId: string): Promise<AccountPlan>;
  usageOf(userId: string): Promise<{ events: number; since: string }>; // events counted this month
  usageStep(userId: string, events: number): Promise<WriteStep>; // adds events to the usage
  requestsPerSource?: number; // a minute, accepted or not
  // Whether the account may store this many more bytes. Without it, there is no limit.
  hasRoom?(userId: string, bytes: number): Promise<boolean>;
  rates?: MemoryRateLimits; // of sources and plans; by default, of this process alone
  raiseAlert?(alert: Alert): Promise<void>;
  // The account comes near the events of its plan, or has used them up. It is called again after a restart, by every
  // process, and after it threw.
  onShareUsed?(share: EventShare): Promise<void>;
  owedLimits?: OwedLimits; // by default, for the kind of store
  answerWatch?: AnswerWatch; // by default, of this thread's event loop
  publicUrl?: string; // where senders reach us: some of them sign it
};

export type BaseDeps = Pick<WebhookDeps, 'store' | 'clock' | 'ids' | 'log'> & {
  random: Random;
  dueShards: DueShards;
};
