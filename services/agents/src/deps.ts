import { type Principal, tenantOf, type WriteAudit } from '@stak/http';
import type { Clock, Ids, Logger, Notifier, Owners, Peers, Random, RecentMap, Sealer } from '@stak/kit';
import type { Outbound } from '@stak/outbound';
import type { DueShards, Store } from '@stak/table';
import type { ChannelKinds } from './channels/channel.ts';
import type { ChannelAddresses } from './channels/provider-addresses.ts';
import type { Models } from './models/models.ts';
import type { TenantSettings } from './settings.ts';
import type { SkillPorts } from './skills/built-in.ts';
import type { Skill } from './skills/skill.ts';
import type { ConversationMemory } from './state/conversation-memory.ts';
import type { ConversationKey } from './state/lease.ts';
import type { Hub } from './streaming/live-answers.ts';
import type { UnsavedAnswer } from './turns/run-turn.ts';
import type { CountMessage } from './usage/counter.ts';

export type EnteredTenant = {
  tenant_id: string;
  account_id: string;
  name: string;
  status: string;
  settings: TenantSettings;
};

// The tenant that the route of a request has entered.
export const enteredTenant = (c: Parameters<typeof tenantOf>[0]): EnteredTenant => tenantOf<EnteredTenant>(c);

// For work in the background.
type EnterTenant = (principal: Principal, tenantId: string) => Promise<EnteredTenant>;
// Finds the active tenant that has claimed a channel.
type ResolveChannel = (type: string, channelId: string) => Promise<EnteredTenant>;
// Finds the user with an identity on a channel, by `channel_identities`.
export type FindChannelUser = (
  tenantId: string,
  channel: string,
  identity: string,
) => Promise<string | undefined>;

export type ApprovalRequest = {
  tenant_id: string;
  conversation_id: string;
  approval_id: string;
  turn_id: string;
  user_id: string | undefined; // the user of the conversation; undefined: the host's own
  approval: 'user' | 'admin';
  name: string; // of the skill
  input: unknown;
  expires_at: string;
};

// Tools of an MCP server that have changed, and are disabled until somebody accepts them.
export type ToolsRequest = { tenant_id: string; server: string; tools: readonly string[]; key: string };

// How much is used of what an account may spend on models a day.
export type SpendShare = { account_id: string; date: string; percent: number; limitUsd: number };

export type AgentsDeps = {
  store: Store;
  clock: Clock;
  ids: Ids;
  log: Logger;
  owners?: Owners; // tells which lease holders are gone; without it, leases have to expire
  peers?: Peers; // other processes, for answers that are followed here and made there
  // The store is in this process: a transaction costs little more than a write, and none is refused because it meets
  // another. Default: if there are peers, which share an embedded store.
  isStoreLocal?: boolean;
  random?: Random;
  dueShards?: number; // minimum; a store keeps the highest number that it ever had
  sealer: Sealer;
  outbound: Outbound;
  mcpOutbound?: Outbound; // reads longer responses, for MCP servers
  publicUrl?: string; // of this server, in the cards of its agents
  enterTenant: EnterTenant;
  resolveChannel: ResolveChannel;
  findChannelUser: FindChannelUser;
  // The role of a user in their tenant: `admin` may approve what needs one. Without it, no user is an admin.
  roleOf?(tenantId: string, userId: string): Promise<string | undefined>;
  // Called at least once when a call waits for an approval, with the approval's id.
  askApproval?(request: ApprovalRequest): Promise<void>;
  // Called at least once when it was decided or can no longer be decided: withdraws the request.
  withdrawApproval?(request: ApprovalRequest): Promise<void>;
  // Called at least once, with the same key, when tools of an MCP server have changed.
  askAboutTools?(request: ToolsRequest): Promise<void>;
  audit?: WriteAudit; // writes a line into the audit trail of an account
  // Whether an account may store this many more bytes. Without it, always.
  hasRoom?(accountId: string, bytes: number): Promise<boolean>;
  models?: Models; // without it, answers come from rules and skills only
  // The operator's limit of an account's spending on models per day; without it, only the limits of tenants apply.
  spendPerDayUsd?(accountId: string): Promise<number | undefined>;
  // Notifies the account of that limit when it is almost or fully used. May be called several times for one share.
  onShareUsed?(share: SpendShare): Promise<void>;
  ports?: SkillPorts; // a skill whose port is missing is not listed
  skills?: readonly Skill[]; // of the operator, in addition to the built-in ones
  addresses?: Partial<ChannelAddresses>; // of the channels' APIs, if not the providers' own
};

// The dependencies of operations, by concern. A function names the concerns, or the fields, that it uses.

export type Base = { readonly store: Store; readonly clock: Clock; readonly ids: Ids; readonly log: Logger };

// Conversations: their leases, their queue, and who listens to their answers.
export type StateDeps = {
  readonly owners: Owners;
  readonly random: Random;
  readonly dueShards: DueShards<ConversationKey>;
  readonly conversationMemory: ConversationMemory;
  readonly notifier: Notifier; // notified when there is work for the worker
  readonly hub: Hub; // answers in progress in this process
};

// Models, and what they may cost.
export type ModelDeps = {
  readonly models: Models | undefined;
  readonly spendPerDayUsd: NonNullable<AgentsDeps['spendPerDayUsd']>;
  readonly onShareUsed: AgentsDeps['onShareUsed'];
  readonly reportedShares: RecentMap<string, number>;
};

export type SkillDeps = {
  readonly skills: readonly Skill[];
  readonly sealer: Sealer;
  readonly outbound: Outbound;
  readonly mcpOutbound: Outbound;
};

export type ChannelDeps = {
  readonly channels: ChannelKinds;
  readonly resolveChannel: ResolveChannel;
  readonly findChannelUser: FindChannelUser;
};

type ApprovalDeps = {
  readonly roleOf: NonNullable<AgentsDeps['roleOf']>;
  readonly askApproval: NonNullable<AgentsDeps['askApproval']>;
  readonly withdrawApproval: NonNullable<AgentsDeps['withdrawApproval']>;
  readonly audit: WriteAudit;
};

export type TurnDeps = Base &
  StateDeps &
  ModelDeps &
  SkillDeps & {
    readonly enterTenant: EnterTenant;
    readonly unsavedAnswers: RecentMap<string, UnsavedAnswer>; // by conversation
  };

// All of them, for the routes and the workers.
export type Service = TurnDeps &
  ChannelDeps &
  ApprovalDeps & {
    readonly askAboutTools: NonNullable<AgentsDeps['askAboutTools']>;
    readonly hasRoom: NonNullable<AgentsDeps['hasRoom']>;
    readonly isStoreLocal: boolean;
    readonly publicUrl: string;
    readonly countMessage: CountMessage;
    readonly memoryNotifier: Notifier; // notified when there is something to summarise
  };

export const timestampOf = (ms: number): string => new Date(ms).toISOString();
export const secondsOf = (ms: number): number => Math.floor(ms / 1000);
export const ttlAfter = (nowMs: number, days: number): number => secondsOf(nowMs) + days * 24 * 60 * 60;
