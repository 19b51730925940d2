import type { Principal } from '@stak/http';
import type { Clock, Ids, Logger, Notifier, Owners, Peers, Random, Sealer } from '@stak/kit';
import type { Outbound } from '@stak/outbound';
import type { DueShards, Store } from '@stak/table';
import type { ChannelKinds } from './channels/channel.ts';
import type { ChannelAddresses } from './channels/provider-addresses.ts';
import type { Models } from './models/models.ts';
import type { TenantSettings } from './settings.ts';
import type { SkillPorts } from './skills/built-in.ts';
import type { Skill } from './skills/skill.ts';
import type { Hub } from './streaming/live-answers.ts';
import type { ConversationKey } from './turns/lease.ts';
import type { MessageCounter } from './usage/counter.ts';

export type Entered = {
  tenant_id: string;
  account_id: string;
  name: string;
  status: string;
  settings: TenantSettings;
};
type EnterTenant = (principal: Principal, tenantId: string) => Promise<Entered>;
// The gate of what comes in by a channel: the tenant that has claimed it, if it is active.
type ResolveChannel = (type: string, channelId: string) => Promise<Entered>;
// Whose identity on a channel this is, by `channel_identities`.
export type FindChannelUser = (
  tenantId: string,
  channel: string,
  identity: string,
) => Promise<string | undefined>;

export type ApprovalRequest = {
  tenant_id: string;
  conversation_id: string;
  approval_id: string;
  user_id: string | undefined; // whose conversation it is; undefined: the host's own
  approval: 'user' | 'admin';
  name: string; // of the skill
  input: unknown;
  expires_at: string;
};

export type AgentsDeps = {
  store: Store;
  clock: Clock;
  ids: Ids;
  log: Logger;
  owners?: Owners; // which of those that hold leases are gone; without it leases run out
  peers?: Peers; // other processes, where answers are made that somebody here follows
  random?: Random;
  dueShards?: number; // at least; a store keeps the highest number that it ever had
  sealer: Sealer;
  outbound: Outbound;
  mcpOutbound?: Outbound; // that reads longer answers, for MCP servers
  enterTenant: EnterTenant;
  resolveChannel: ResolveChannel;
  findChannelUser: FindChannelUser;
  // What a user is in their tenant: `admin` may agree to what needs one. Nobody is, if nobody says.
  roleOf?(tenantId: string, userId: string): Promise<string | undefined>;
  // A call waits for somebody's approval. Told at least once, by the approval's id.
  askApproval?(request: ApprovalRequest): Promise<void>;
  // It was decided, or nobody can decide it any more: what asked for it goes. Told at least once.
  withdrawApproval?(request: ApprovalRequest): Promise<void>;
  // Whether an account may store so many bytes more; always, if nobody says.
  hasRoom?(accountId: string, bytes: number): Promise<boolean>;
  models?: Models; // none: answers come from rules and skills only
  // What the operator allows an account to spend on models a day; without it, as much as its tenants allow.
  spendPerDayUsd?(accountId: string): Promise<number | undefined>;
  ports?: SkillPorts; // a skill whose port is missing is not listed
  skills?: readonly Skill[]; // of the operator, besides the built-in ones
  addresses?: Partial<ChannelAddresses>; // of the channels' APIs, if not the providers' own
};

// What every operation works with.
export type Service = {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
  readonly owners: Owners;
  readonly random: Random;
  readonly dueShards: DueShards<ConversationKey>;
  readonly sealer: Sealer;
  readonly outbound: Outbound;
  readonly mcpOutbound: Outbound;
  readonly enterTenant: EnterTenant;
  readonly resolveChannel: ResolveChannel;
  readonly findChannelUser: FindChannelUser;
  readonly roleOf: NonNullable<AgentsDeps['roleOf']>;
  readonly askApproval: NonNullable<AgentsDeps['askApproval']>;
  readonly withdrawApproval: NonNullable<AgentsDeps['withdrawApproval']>;
  readonly hasRoom: NonNullable<AgentsDeps['hasRoom']>;
  readonly models: Models | undefined;
  readonly spendPerDayUsd: NonNullable<AgentsDeps['spendPerDayUsd']>;
  readonly skills: readonly Skill[];
  readonly channels: ChannelKinds;
  readonly messageCounter: MessageCounter;
  readonly notifier: Notifier; // rung when there is something for the worker
  readonly memoryNotifier: Notifier; // when there is something to summarise
  readonly hub: Hub; // answers that are being made in this process
};

export const timestampOf = (ms: number): string => new Date(ms).toISOString();
export const secondsOf = (ms: number): number => Math.floor(ms / 1000);
export const ttlAfter = (nowMs: number, days: number): number => secondsOf(nowMs) + days * 24 * 60 * 60;
