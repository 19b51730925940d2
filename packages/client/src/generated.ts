// Generated from the OpenAPI document by scripts/generate.ts: change the routes instead.

export type A2aAnswer = {
  jsonrpc: '2.0';
  id: string | number | null;
  result?: unknown;
  error?: { code: number; message: string; data?: Array<{ [name: string]: unknown }> };
};

export type A2aRequest = {
  jsonrpc: '2.0';
  id?: string | number | null;
  method: string;
  params?: { [name: string]: unknown };
};

export type AcceptedInvitation = { token: string; display_name: string };

export type Agent = {
  name: string;
  is_settings: boolean;
  published_version: number | null;
  published_at: string | null;
  last_version: number;
  has_changes: boolean;
  created_at: string | null;
  updated_at: string | null;
  draft: AgentDefinition;
  published: AgentDefinition | null;
  spent_today_usd: number | null;
};

export type AgentCard = { name: string; description: string; version: string; [name: string]: unknown };

export type AgentDefinition = {
  description?: string;
  prompt?: string;
  variables?: { [name: string]: string };
  model?: AgentModel | null;
  fallbacks?: Array<AgentModel>;
  skills?: Array<string>;
  approvals?: { [name: string]: 'user' | 'admin' | 'never' };
  memory?: 'automatic' | 'on_request' | 'none' | null;
  spend_per_day_usd?: number | null;
  spend_per_turn_usd?: number | null;
  greeting?: string;
  languages?: Array<string>;
  handoffs?: Array<string>;
  asks?: Array<string>;
  is_open_to_users?: boolean;
};

export type AgentDifferences = {
  from: number | 'draft' | null;
  to: number | 'draft';
  data: Array<{ field: string; before?: unknown; after?: unknown }>;
};

export type AgentModel = { provider: string; model: string };

export type AgentPage = { data: Array<ListedAgent>; next_cursor: string | null };

export type AgentUsage = {
  from: string;
  to: string;
  user_id: string | null;
  limit_per_day: number | null;
  total: {
    messages: number;
    refunded: number;
    model_turns: number;
    input_tokens: number;
    output_tokens: number;
    cost_usd: number;
    reserved_usd: number;
  };
  days: Array<{
    date: string;
    messages: number;
    refunded: number;
    model_turns: number;
    input_tokens: number;
    output_tokens: number;
    cost_usd: number;
    reserved_usd: number;
  }>;
};

export type AgentVersion = {
  version: number;
  is_published: boolean;
  note: string | null;
  created_at: string;
  definition: AgentDefinition;
};

export type Alert = {
  alertKind: 'delivery_failed' | 'breaker_opened' | 'connection_disabled';
  sourceId: string;
  connectionId: string;
  eventId?: string;
  detail: string;
  raisedAt: string;
};

export type ApiKey = {
  keyId: string;
  name: string;
  keyPrefix: string;
  permissions: 'read' | 'write' | 'admin';
  madeBy: string;
  expiresAt?: string;
  tenants?: Array<string>;
  addresses?: Array<string>;
  lastUsedAt?: string;
  createdAt: string;
};

export type App = {
  sessionId: string;
  userId: string;
  name: string;
  redirectHost: string;
  scope: 'read' | 'write';
  createdAt: string;
  lastUsedAt: string;
};

export type Approval = {
  approval_id: string;
  conversation_id: string;
  message_id: string;
  user_id: string | null;
  tool_call_id: string;
  name: string;
  input?: unknown;
  approval: 'user' | 'admin';
  status: 'waiting' | 'approved' | 'refused' | 'expired' | 'cancelled';
  created_at: string;
  expires_at: string;
  decided_at: string | null;
  decided_by: string | null;
  reason: string | null;
};

export type ApprovalPage = { data: Array<Approval>; next_cursor: string | null };

export type Attempt = {
  connectionId: string;
  run: number;
  attemptNumber: number;
  destinationUrl: string;
  statusCode: number;
  responseBody?: string;
  latencyMs: number;
  error?: string;
  attemptedAt: number;
};

export type Audiences = { kind: 'users' | 'everyone'; label?: string };

export type AuditEntry = {
  auditId: string;
  action: string;
  at: string;
  by?: string;
  via: string;
  credentialId?: string;
  address?: string;
  requestId?: string;
  target?: string;
  detail?: string;
};

export type BillingPage = { url: string };

export type Category = { category: string; until: number | null; deleting: boolean };

export type CategoryErasure = {
  category: string;
  status: 'erasing' | 'erased';
  erased: number;
  startedat: number;
  finishedat: number | null;
};

export type Channel = { tenant_id: string; type: string; channel_id: string; created_at: string };

export type ChannelCredentials = { type: string; channel_id: string; updated_at: string };

export type ChatCompletion = {
  id: string;
  object: 'chat.completion';
  created: number;
  model: string;
  choices: Array<{
    index: 0;
    message: {
      role: 'assistant';
      content: string | null;
      refusal: null;
      tool_calls?: Array<{ id: string; type: 'function'; function: { name: string; arguments: string } }>;
    };
    finish_reason: 'stop' | 'length' | 'tool_calls' | 'content_filter';
    logprobs: null;
  }>;
  usage: { prompt_tokens: number; completion_tokens: number; total_tokens: number };
  conversation_id: string;
  message_id: string;
  approvals?: Array<Approval>;
};

export type ChatCompletionRequest = {
  model: string;
  metadata?: { [name: string]: string } | null;
  store?: boolean | null;
  stream?: boolean | null;
  temperature?: number | null;
  top_p?: number | null;
  parallel_tool_calls?: boolean | null;
  user?: string | null;
  safety_identifier?: string | null;
  service_tier?: 'auto' | 'default' | null;
  prompt_cache_key?: string | null;
  prompt_cache_retention?: string | null;
  top_logprobs?: 0;
  messages: Array<
    | { role: 'system' | 'developer'; content: string | Array<OpenAiContentPart> }
    | { role: 'user'; content: string | Array<OpenAiContentPart> }
    | {
        role: 'assistant';
        content?: string | Array<OpenAiContentPart> | null;
        tool_calls?: Array<{
          id: string;
          type: 'function';
          function: { name: string; arguments: string; [name: string]: unknown };
          [name: string]: unknown;
        }> | null;
        [name: string]: unknown;
      }
    | { role: 'tool'; tool_call_id: string; content: string | Array<OpenAiContentPart> }
  >;
  max_tokens?: number | null;
  max_completion_tokens?: number | null;
  stop?: string | Array<string> | null;
  seed?: number | null;
  presence_penalty?: number | null;
  frequency_penalty?: number | null;
  tools?: Array<{
    type: 'function';
    function: {
      name: string;
      description?: string | null;
      parameters?: { [name: string]: unknown } | null;
      strict?: boolean | null;
    };
  }> | null;
  tool_choice?: 'none' | 'auto' | 'required' | { type: 'function'; function: { name: string } } | null;
  response_format?:
    | OpenAiTextFormat
    | OpenAiJsonFormat
    | {
        type: 'json_schema';
        json_schema: {
          name: string;
          description?: string | null;
          schema: { [name: string]: unknown };
          strict?: boolean | null;
        };
      }
    | null;
  stream_options?: { include_usage?: boolean | null; include_obfuscation?: boolean | null } | null;
  n?: 1;
  logprobs?: false;
  modalities?: ['text'] | null;
};

export type ChosenConnections = { connectionIds?: Array<string> };

export type Connection = {
  connectionId: string;
  sourceId: string;
  name: string;
  destinationUrl: string;
  filters: Array<FilterRule | FilterAnd1 | FilterOr1 | FilterNot1>;
  transform: Passthrough | FieldMap | Script;
  retryConfig: RetryConfig;
  maxConcurrency: number;
  ratePerSecond?: number;
  ordered: boolean;
  status: 'active' | 'paused' | 'disabled' | 'deleted';
  disabledReason?: string;
  breaker: 'closed' | 'open' | 'half';
  deliveryCount: number;
  failureCount: number;
  createdAt: string;
  updatedAt: string;
};

export type ConnectionWithSecret = {
  connectionId: string;
  sourceId: string;
  name: string;
  destinationUrl: string;
  filters: Array<FilterRule | FilterAnd1 | FilterOr1 | FilterNot1>;
  transform: Passthrough | FieldMap | Script;
  retryConfig: RetryConfig;
  maxConcurrency: number;
  ratePerSecond?: number;
  ordered: boolean;
  status: 'active' | 'paused' | 'disabled' | 'deleted';
  disabledReason?: string;
  breaker: 'closed' | 'open' | 'half';
  deliveryCount: number;
  failureCount: number;
  createdAt: string;
  updatedAt: string;
  signingSecret: string;
};

export type Conversation = {
  conversation_id: string;
  title: string | null;
  user_id: string | null;
  channel: string | null;
  turns: number;
  created_at: string | null;
  updated_at: string | null;
  agent: string;
  agent_version: number | 'draft' | null;
  expires_at: string;
  messages: Array<{ role: 'user' | 'assistant' | 'system'; content: string }>;
};

export type CustomSkill = {
  name: string;
  description: string;
  triggers: Array<string>;
  parameters: { [name: string]: unknown };
  url: string;
  created_at: string;
  updated_at: string;
  secret?: string;
};

export type DeletedTask = { task_id: string };

export type Delivery = {
  connectionId: string;
  run: number;
  state: 'pending' | 'retrying' | 'delivered' | 'failed' | 'filtered' | 'cancelled';
  isHeld: boolean;
  attempts: number;
  nextAttemptAt?: number;
  statusCode?: number;
  error?: string;
  finishedAt?: number;
};

export type DeliveryCount = { deliveries: number };

export type Erasure = {
  erasure_id: string;
  tenant_id: string;
  subject: 'tenant' | 'user';
  user_id?: string;
  status: 'waiting' | 'running' | 'done';
  steps: Array<string>;
  steps_done: Array<string>;
  failures: number;
  created_at: string;
  finished_at?: string;
};

export type Event = {
  eventId: string;
  sourceId: string;
  status:
    | 'received'
    | 'processing'
    | 'filtered'
    | 'delivered'
    | 'partial'
    | 'retrying'
    | 'failed'
    | 'rejected';
  method: string;
  query?: string;
  contentType?: string;
  eventType?: string;
  sourceIp?: string;
  size: number;
  dedupeId?: string;
  rejection?: string;
  receivedAt: number;
  processedAt?: number;
  deliveredAt?: number;
  attempts: number;
  connections: number;
  expiresAt: number;
};

export type EventPage = { data: Array<Event>; next_cursor: string | null };

export type EventReceipt = { eventId: string; status: string; duplicate: boolean };

export type EventStatusCounts = {
  received: number;
  processing: number;
  filtered: number;
  delivered: number;
  partial: number;
  retrying: number;
  failed: number;
  rejected: number;
};

export type Feedback = { rating: 'good' | 'bad'; comment: string | null; rated_at: string };

export type FieldError = {
  in: 'body' | 'query' | 'path' | 'header';
  pointer: string;
  code: string;
  detail: string;
};

export type FieldMap = {
  type: 'field_map';
  fields: Array<MappedPath | MappedConstant | MappedTemplate>;
  keep?: boolean;
};

export type FilterAnd1 = { and: Array<FilterRule | FilterAnd2 | FilterOr2 | FilterNot2> };

export type FilterAnd2 = { and: Array<FilterRule | FilterAnd3 | FilterOr3 | FilterNot3> };

export type FilterAnd3 = { and: Array<FilterRule> };

export type FilterNot1 = { not: FilterRule | FilterAnd2 | FilterOr2 | FilterNot2 };

export type FilterNot2 = { not: FilterRule | FilterAnd3 | FilterOr3 | FilterNot3 };

export type FilterNot3 = { not: FilterRule };

export type FilterOr1 = { or: Array<FilterRule | FilterAnd2 | FilterOr2 | FilterNot2> };

export type FilterOr2 = { or: Array<FilterRule | FilterAnd3 | FilterOr3 | FilterNot3> };

export type FilterOr3 = { or: Array<FilterRule> };

export type FilterResult = {
  matched: boolean;
  steps: Array<{ rule: string; matched: boolean; why: string; depth: number }>;
};

export type FilterRule = {
  field: 'body' | 'header' | 'query' | 'method';
  path?: string;
  name?: string;
  operator:
    | 'equals'
    | 'not_equals'
    | 'contains'
    | 'not_contains'
    | 'exists'
    | 'not_exists'
    | 'regex'
    | 'gt'
    | 'lt'
    | 'gte'
    | 'lte';
  value?: string | number | boolean | null;
};

export type HmacConfig = {
  algorithm: 'sha1' | 'sha256' | 'sha512';
  header: string;
  encoding: 'hex' | 'base64' | 'base64url';
  prefix?: string;
  secretEncoding?: 'utf8' | 'hex' | 'base64';
  timestampHeader?: string;
  idHeader?: string;
  template?: string;
};

export type IcebergConfig = {
  defaults: { [name: string]: string };
  overrides: { [name: string]: string };
  endpoints: Array<string>;
};

export type IcebergIdentifier = { namespace: Array<string>; name: string };

export type IcebergNamespace = { namespace: Array<string>; properties: { [name: string]: string } };

export type IcebergNamespaces = { namespaces: Array<Array<string>>; 'next-page-token': null };

export type IcebergTable = {
  'metadata-location': string;
  metadata: Record<string, never>;
  config: { [name: string]: string };
};

export type IcebergTables = { identifiers: Array<IcebergIdentifier>; 'next-page-token': null };

export type ImportedTextPart = { type: 'text'; text: string };

export type Inbox = {
  title: string;
  description?: string;
  ttl?: { [name: string]: string };
  schema?: { [name: string]: unknown };
  late_joiners?: 'all' | 'none' | LastMessages;
  unique_host_system_ids?: boolean;
  cta_schemes?: Array<string>;
  tenant_key: string;
  inbox_key: string;
  uid: string;
  version: number;
};

export type InboxErasure = {
  inbox_key: string;
  status: 'erasing' | 'erased';
  erased: number;
  startedat: number;
  finishedat: number | null;
};

export type InboxMember = { uid: string; joinedat: number };

export type InboxSettings = { title: string; ttl?: string; tenant_key: string; uid: string; version: number };

export type Invitation = {
  invitationId: string;
  email: string;
  role: 'owner' | 'admin' | 'member' | 'viewer';
  invitedBy: string;
  sentAt: string;
  expiresAt: string;
};

export type InvitationToken = { token: string };

export type Job = {
  jobId: string;
  sourceId: string;
  action: 'replay' | 'cancel';
  state: 'running' | 'done' | 'failed' | 'cancelled';
  matched: number;
  expected?: number;
  deliveries: number;
  createdAt: number;
  finishedAt?: number;
};

export type LakeColumn = { name: string; type: string };

export type LakeTexts = { enabled: boolean; since: string | null };

export type LastMessages = { last: number };

export type ListedAgent = {
  name: string;
  is_settings: boolean;
  published_version: number | null;
  published_at: string | null;
  last_version: number;
  has_changes: boolean;
  created_at: string | null;
  updated_at: string | null;
  description: string;
};

export type ListedAgentVersion = {
  version: number;
  is_published: boolean;
  note: string | null;
  created_at: string;
};

export type ListedConversation = {
  conversation_id: string;
  title: string | null;
  user_id: string | null;
  channel: string | null;
  turns: number;
  created_at: string | null;
  updated_at: string | null;
};

export type MailedToken = { token: string };

export type MappedConstant = { to: string; value: string | number | boolean | null };

export type MappedPath = { to: string; from: string; default?: string | number | boolean | null };

export type MappedTemplate = { to: string; template: string };

export type MarkRange = { since?: number; as_of?: number; category?: string };

export type MarkedMessages = { changed: number; not_found: Array<string> };

export type McpServer = {
  name: string;
  url: string;
  header_names: Array<string>;
  tools: Array<{
    name: string;
    skill: string;
    description: string;
    hash: string;
    is_changed: boolean;
    accepted_description: string | null;
  }>;
  skipped: Array<{ name: string; reason: string }>;
  protocol_version: string | null;
  tools_at: string;
  error: string | null;
  created_at: string;
  updated_at: string;
};

export type Member = {
  userId: string;
  role: 'owner' | 'admin' | 'member' | 'viewer';
  email?: string;
  name?: string;
  joinedAt: string;
};

export type Membership = {
  accountId: string;
  name: string;
  role: 'owner' | 'admin' | 'member' | 'viewer';
  isCurrent: boolean;
};

export type Memory = {
  session_id: string;
  summary: string | null;
  key_facts: Array<{
    fact_id: string;
    fact: string;
    created_at: string;
    source: string;
    seq: number | null;
    supersedes: string | null;
  }>;
  created_at: string;
  updated_at: string;
};

export type MemoryStatus = {
  is_declined: boolean;
  memory_summary: string | null;
  memory_updated_at: string | null;
};

export type Message = {
  id: string;
  host_system_id: string | null;
  sender: string;
  audiences: Audiences;
  received: number;
  delivered: number;
  expiredat: number;
  read: boolean;
  readat: number | null;
  seen: boolean;
  archived: boolean;
  snoozed_until: number | null;
  taxonomy?: Taxonomy;
  message: { title: string; body?: unknown; cta_uri: string | null };
};

export type MessageContent = { title: string; body?: unknown; cta_uri?: string | null };

export type MessageCounts = {
  total: number;
  unread: number;
  unseen: number;
  categories: { [name: string]: { total: number; unread: number; unseen: number } };
};

export type MessageIds = { ids: Array<string> };

export type MessageReply = {
  message_id: string;
  conversation_id: string;
  status: 'answered';
  seq: number;
  created_at: string;
  reply: { role: 'assistant'; content: string };
  finish_reason?: 'length' | 'content_filter';
  tool_calls?: Array<{ tool_call_id: string; name: string; input?: unknown }>;
  merged: number;
  agent: string;
  agent_version: number | 'draft' | null;
  handed_from: string | null;
  routing: 'rule' | 'model' | 'import';
  rule: string | null;
  skills: Array<string>;
  model: string | null;
  usage: TokenUsage;
  cost_usd: number;
};

export type Model = {
  provider: string;
  model: string;
  is_default: boolean;
  price: { input: number; output: number } | null;
};

export type NewMessage = {
  message: MessageContent;
  taxonomy?: Taxonomy;
  host_system_id?: string | null;
  sender?: string;
  label?: string;
  ttl?: string;
  expiredat?: number;
  send_at?: number;
  uids: Array<string>;
};

export type NewName = { name: string };

export type OAuthError = { error: string; error_description: string };

export type OpenAiContentPart = { type: string; text?: string; refusal?: string; [name: string]: unknown };

export type OpenAiError = {
  error: { message: string; type: string; param: string | null; code: string | null; request_id?: string };
};

export type OpenAiJsonFormat = { type: 'json_object' };

export type OpenAiModel = { id: string; object: 'model'; created: number; owned_by: string };

export type OpenAiTextFormat = { type: 'text' };

export type Organisation = {
  accountId: string;
  name: string;
  plan: 'free' | 'starter' | 'pro' | 'team' | 'selfhosted';
  members: number;
  seats: number | null;
  role?: 'owner' | 'admin' | 'member' | 'viewer';
  manages: Array<'owner' | 'admin' | 'member' | 'viewer'>;
};

export type OrganisationProvider = {
  issuer: string;
  clientId: string;
  domains: Array<string>;
  defaultRole: 'owner' | 'admin' | 'member' | 'viewer';
  redirectUri: string;
  signInUrl: string;
  updatedAt: string;
};

export type Passkey = {
  passkeyId: string;
  name: string;
  isSynced: boolean;
  lastUsedAt?: string;
  createdAt: string;
};

export type PasskeyAnswer = {
  id: string;
  rawId: string;
  type: 'public-key';
  authenticatorAttachment?: 'platform' | 'cross-platform';
  clientExtensionResults?: { [name: string]: unknown };
  response: { clientDataJSON: string; authenticatorData: string; signature: string; userHandle?: string };
};

export type PasskeyOptions = { options: { [name: string]: unknown } };

export type Passthrough = { type: 'passthrough' };

export type PasswordProof = { password?: string };

export type Plan = {
  plan: 'free' | 'starter' | 'pro' | 'team' | 'selfhosted';
  eventsPerMonth: number | null;
  eventsPerMinute: number | null;
  retentionSeconds: number;
  seats: number | null;
  storageBytes: number | null;
  tenants: number | null;
  usersPerTenant: number | null;
  modelUsdPerDay: number | null;
  query: { rows: number; bytes: number; seconds: number };
};

export type Portal = {
  tenant_id: string;
  name: string;
  logo?: string;
  color?: string;
  header_color?: string;
  sign_in: boolean;
  provider: boolean;
};

export type PortalProvider = {
  tenant_id: string;
  issuer: string;
  client_id: string;
  domains: Array<string>;
  creates_users: boolean;
  matches_addresses: boolean;
  redirect_uri: string;
  updated_at: string;
};

export type PortalSession = { access_token: string; token_type: 'Bearer'; expires_at: string };

export type Problem = {
  type: string;
  title: string;
  status: number;
  code: string;
  detail: string;
  request_id: string;
  errors?: Array<FieldError>;
  details?: unknown;
};

export type Profile = {
  userId: string;
  email: string;
  emailVerified: boolean;
  name: string;
  plan: 'free' | 'starter' | 'pro' | 'team' | 'selfhosted';
  madeFor?: string;
  hasPassword: boolean;
  secondFactor: boolean;
  authenticator: boolean;
  passkeys: number;
  githubId?: string;
  googleId?: string;
  mails: { deliveries: boolean; limits: boolean };
  usageThisMonth: number;
  usagePeriodStart: string;
  createdAt: string;
  updatedAt: string;
};

export type ProviderLink = { return_to?: string; password?: string };

export type ProviderUrl = { url: string };

export type Readiness = {
  status: 'ready' | 'not_ready' | 'stopping';
  checks: { [name: string]: 'ok' | 'degraded' | 'failed' };
  event_loop?: { p50_ms: number; p99_ms: number; max_ms: number };
};

export type Receipt = { uid: string; read: boolean; readat: number | null };

export type RecoveryCodes = { recoveryCodes: Array<string> };

export type ReminderBefore = { days_before: number; time: string };

export type ReminderTime = { at: string };

export type Response = {
  id: string;
  object: 'response';
  created_at: number;
  status: 'queued' | 'in_progress' | 'completed' | 'incomplete' | 'failed' | 'cancelled';
  background: boolean;
  error: { code: string; message: string } | null;
  incomplete_details: { reason: 'max_output_tokens' | 'content_filter' } | null;
  instructions: string | null;
  max_output_tokens: number | null;
  model: string;
  output: Array<
    | {
        type: 'message';
        id: string;
        status: 'in_progress' | 'completed' | 'incomplete';
        role: 'assistant';
        content: Array<{ type: 'output_text'; text: string; annotations: Array<unknown> }>;
      }
    | {
        type: 'function_call';
        id: string;
        status: 'in_progress' | 'completed' | 'incomplete';
        call_id: string;
        name: string;
        arguments: string;
      }
    | { type: 'mcp_approval_request'; id: string; name: string; arguments: string; server_label: string }
  >;
  parallel_tool_calls: boolean;
  previous_response_id: string | null;
  conversation: { id: string };
  store: boolean;
  temperature: number | null;
  top_p: number | null;
  text: { [name: string]: unknown };
  tool_choice?: unknown;
  tools: Array<{ [name: string]: unknown }>;
  truncation: 'auto';
  metadata: { [name: string]: string };
  usage: {
    input_tokens: number;
    input_tokens_details: { cached_tokens: number };
    output_tokens: number;
    output_tokens_details: { reasoning_tokens: number };
    total_tokens: number;
  } | null;
};

export type ResponseRequest = {
  model: string;
  metadata?: { [name: string]: string } | null;
  store?: boolean | null;
  stream?: boolean | null;
  temperature?: number | null;
  top_p?: number | null;
  parallel_tool_calls?: boolean | null;
  user?: string | null;
  safety_identifier?: string | null;
  service_tier?: 'auto' | 'default' | null;
  prompt_cache_key?: string | null;
  prompt_cache_retention?: string | null;
  top_logprobs?: 0;
  input:
    | string
    | Array<
        | {
            type: 'function_call';
            call_id: string;
            name: string;
            arguments: string;
            status?: 'in_progress' | 'completed' | 'incomplete' | null;
            [name: string]: unknown;
          }
        | {
            type: 'function_call_output';
            id?: string | null;
            call_id: string;
            output: string | Array<OpenAiContentPart>;
            status?: 'in_progress' | 'completed' | 'incomplete' | null;
          }
        | { type: 'item_reference'; id: string }
        | {
            type?: 'message';
            role: 'user' | 'assistant' | 'system' | 'developer';
            content: string | Array<OpenAiContentPart>;
            status?: 'in_progress' | 'completed' | 'incomplete' | null;
            [name: string]: unknown;
          }
      >;
  instructions?: string | null;
  previous_response_id?: string | null;
  conversation?: string | { id: string } | null;
  max_output_tokens?: number | null;
  tools?: Array<{
    name: string;
    description?: string | null;
    parameters?: { [name: string]: unknown } | null;
    strict?: boolean | null;
    type: 'function';
  }> | null;
  tool_choice?: 'none' | 'auto' | 'required' | { type: 'function'; name: string } | null;
  text?: {
    format?:
      | OpenAiTextFormat
      | OpenAiJsonFormat
      | {
          name: string;
          description?: string | null;
          schema: { [name: string]: unknown };
          strict?: boolean | null;
          type: 'json_schema';
        }
      | null;
  } | null;
  truncation?: 'auto' | 'disabled' | null;
  include?: Array<'reasoning.encrypted_content'> | null;
  stream_options?: { include_obfuscation?: boolean | null } | null;
  background?: boolean | null;
};

export type RetryConfig = { delaysS?: Array<number>; maxAttempts?: number };

export type RulesDifference = {
  eventId: string;
  receivedAt: number;
  eventType?: string;
  before: RulesOutcome;
  after: RulesOutcome;
};

export type RulesOutcome = {
  result: 'sent' | 'filtered' | 'dropped' | 'failed';
  bytes?: number;
  body?: string;
  contentType?: string;
  headers?: Array<[string, string]>;
  reason?: string;
  message?: string;
};

export type RulesOutcomeCounts = { sent: number; filtered: number; dropped: number; failed: number };

export type SavedItem = {
  kind: 'events' | 'sql' | 'messages';
  name: string;
  text: string;
  saved_by: string;
  saved_at: string;
};

export type Script = { type: 'javascript'; code: string };

export type Send = {
  id: string;
  host_system_id: string | null;
  sender: string;
  audiences: Audiences;
  status: 'scheduled' | 'delivering' | 'sent' | 'redacting' | 'redacted' | 'cancelled';
  title: string | null;
  taxonomy?: Taxonomy;
  received: number;
  send_at?: number;
  expiredat: number;
  recipients: number | null;
  delivered: number;
  read: number;
  read_rate: number;
};

export type SendPage = { data: Array<Send>; next_cursor: string | null };

export type Session = {
  sessionId: string;
  isCurrent: boolean;
  accountId: string;
  signedInWith: string;
  device: string;
  address?: string;
  userAgent?: string;
  createdAt: string;
  lastUsedAt: string;
};

export type Skill = {
  name: string;
  description: string;
  is_enabled: boolean;
  is_custom: boolean;
  approval: 'user' | 'admin' | 'never';
};

export type SkillDraft = {
  description: string;
  triggers?: Array<string>;
  parameters?: { [name: string]: unknown };
  url: string;
};

export type Source = {
  sourceId: string;
  name: string;
  provider:
    | 'stripe'
    | 'github'
    | 'shopify'
    | 'slack'
    | 'twilio'
    | 'sendgrid'
    | 'standard-webhooks'
    | 'custom'
    | 'stak';
  status: 'active' | 'paused' | 'deleted';
  signatures: 'off' | 'reject' | 'store';
  hasSigningSecret: boolean;
  signingAlgorithm?: 'hmac-sha1' | 'hmac-sha256' | 'hmac-sha512' | HmacConfig;
  toleranceS?: number;
  dedupeHeader?: string;
  whilePaused: 'hold' | 'refuse';
  auditTrail: boolean;
  alertUrl?: string;
  ingestUrl?: string;
  eventCount: number;
  lastEventAt?: string;
  createdAt: string;
  updatedAt: string;
};

export type SourceWithSecret = {
  sourceId: string;
  name: string;
  provider:
    | 'stripe'
    | 'github'
    | 'shopify'
    | 'slack'
    | 'twilio'
    | 'sendgrid'
    | 'standard-webhooks'
    | 'custom'
    | 'stak';
  status: 'active' | 'paused' | 'deleted';
  signatures: 'off' | 'reject' | 'store';
  hasSigningSecret: boolean;
  signingAlgorithm?: 'hmac-sha1' | 'hmac-sha256' | 'hmac-sha512' | HmacConfig;
  toleranceS?: number;
  dedupeHeader?: string;
  whilePaused: 'hold' | 'refuse';
  auditTrail: boolean;
  alertUrl?: string;
  ingestUrl?: string;
  eventCount: number;
  lastEventAt?: string;
  createdAt: string;
  updatedAt: string;
  alertSecret?: string;
};

export type TableAttribute = {
  name: string;
  type: string;
  value?: unknown;
  note: 'masked' | 'sealed' | 'cut' | null;
};

export type TableItem = {
  entity: string | null;
  keys: Array<TableKey>;
  expires_at: string | null;
  is_expired: boolean;
  attributes: Array<TableAttribute>;
};

export type TableKey = {
  attribute: string;
  role: 'partition' | 'sort';
  index: string | null;
  text: string;
  pieces: Array<{ text: string; param: string | null }>;
  is_masked: boolean;
};

export type TableKeyNames = { partition: string; sort: string | null };

export type Task = {
  task_id: string;
  title: string;
  description?: string;
  status: 'pending' | 'in_progress' | 'completed' | 'cancelled';
  priority?: 'low' | 'medium' | 'high' | 'urgent';
  category?: string;
  labels?: Array<string>;
  due_date?: string;
  parent_id?: string;
  subtask_ids?: Array<string>;
  position?: string;
  recurrence?: string;
  series_id?: string;
  series_start?: string;
  reminder?: ReminderTime | ReminderBefore;
  remind_at?: number;
  created_at: number;
  updated_at: number;
  completed_at: number | null;
  restored_at?: number;
  version: number;
  ttl?: number;
};

export type TaskCounts = {
  total: number;
  by_status: { pending: number; in_progress: number; completed: number; cancelled: number };
  by_priority: { low: number; medium: number; high: number; urgent: number; none: number };
  by_category: Array<{ category: string; tasks: number }>;
  blocked: number;
  overdue: number;
};

export type TaskPage = { data: Array<Task | TaskSummary>; next_cursor: string | null };

export type TaskPatch = {
  title?: string;
  description?: string | null;
  status?: 'pending' | 'in_progress' | 'completed' | 'cancelled';
  priority?: 'low' | 'medium' | 'high' | 'urgent' | null;
  category?: string | null;
  labels?: Array<string> | null;
  due_date?: string | null;
  parent_id?: string | null;
  recurrence?: string | null;
  reminder?: ReminderTime | ReminderBefore | null;
};

export type TaskProfile = {
  email?: string;
  name?: string;
  time_zone: string;
  retention_days?: number;
  created_at: number;
  updated_at: number;
  version: number;
};

export type TaskSummary = {
  task_id: string;
  title: string;
  status: 'pending' | 'in_progress' | 'completed' | 'cancelled';
  priority?: 'low' | 'medium' | 'high' | 'urgent';
  category?: string;
  labels?: Array<string>;
  due_date?: string;
  parent_id?: string;
  created_at: number;
  completed_at: number | null;
  ttl?: number;
};

export type Taxonomy = { category: string };

export type Tenant = {
  tenant_id: string;
  name: string;
  status: 'onboarding' | 'active' | 'suspended';
  created_at: string;
  updated_at: string;
  version: number;
};

export type TenantSettings = {
  ai_provider: string;
  ai_model: string;
  system_prompt_override: string;
  max_tokens_per_message: number;
  enabled_channels: Array<string>;
  enabled_skills: Array<string>;
  custom_skills: Array<string | { [name: string]: unknown }>;
  messages_per_day: number;
  max_conversation_history: number;
  portal_sign_in?: 'host' | 'mail';
  portal_frame_ancestors?: Array<string>;
  portal_name?: string;
  portal_logo?: string;
  portal_color?: string;
  portal_header_color?: string;
  [name: string]: unknown;
};

export type TextPart = { type: 'text'; text: string };

export type TokenUsage = { input_tokens: number; output_tokens: number };

export type Tokens = {
  access_token: string;
  token_type: 'Bearer';
  expires_in: number;
  session_id: string;
  account_id: string;
  user_id: string;
  refresh_token?: string;
};

export type ToolCallPart = { type: 'tool-call'; toolCallId: string; toolName: string; input?: unknown };

export type ToolResultPart = {
  type: 'tool-result';
  toolCallId: string;
  toolName: string;
  output: { type: string; value?: unknown };
};

export type TransformResult = { ok: boolean; dropped?: boolean; reason?: string; message?: string };

export type Turn = {
  seq: number;
  created_at: string;
  agent: string;
  agent_version: number | 'draft' | null;
  handed_from: string | null;
  routing: 'rule' | 'model' | 'import';
  rule: string | null;
  skills: Array<string>;
  model: string | null;
  usage: TokenUsage;
  cost_usd: number;
  messages: Array<
    | { role: 'user' | 'system'; content: string }
    | { role: 'assistant'; content: string | Array<TextPart | ToolCallPart | ToolResultPart> }
    | { role: 'tool'; content: Array<TextPart | ToolCallPart | ToolResultPart> }
  >;
  feedback: Feedback | null;
  host_feedback: Feedback | null;
};

export type Usage = {
  usagePeriodStart: string;
  usageThisMonth: number;
  plan: 'free' | 'starter' | 'pro' | 'team' | 'selfhosted';
  eventsPerMonth: number | null;
  tenants: { used: number | null; limit: number | null };
  storage: {
    usedBytes: number;
    limitBytes: number | null;
    isComplete: boolean;
    services: Array<{ service: string; bytes: number; items: number }>;
  };
};

export type User = {
  tenant_id: string;
  user_id: string;
  email?: string;
  display_name: string;
  role: 'admin' | 'member';
  channel_identities: { [name: string]: string };
  preferences: { [name: string]: unknown };
  custom_properties: { [name: string]: unknown };
  memory_summary?: string;
  memory_updated_at?: string;
  memory_edited_at?: string;
  created_at: string;
  updated_at: string;
  version: number;
};

export type UserInvitation = {
  tenant_id: string;
  invitation_id: string;
  email: string;
  role: 'admin' | 'member';
  user_id: string;
  created_at: string;
  expires_at: string;
};

export type UserToken = { token: string; tenant: string; sub: string; scope: string; expires_at: string };

export type WaitingReply = {
  message_id: string;
  conversation_id: string;
  status: 'waiting';
  approvals?: Array<Approval>;
};

export type WhyFollowed = {
  id: string | null;
  kind: string;
  at: string | null;
  what: string;
  by: string | null;
  decided: string | null;
  hidden: number;
  because_of: string;
};

export type WhyNode = {
  id: string | null;
  kind: string;
  at: string | null;
  what: string;
  by: string | null;
  decided: string | null;
  hidden: number;
};

export type ApiTypes = {
  /** Accept an invitation. For: person. */
  'accounts.acceptInvitation': {
    args: { body: InvitationToken };
    data: { accountId: string; role: 'owner' | 'admin' | 'member' | 'viewer' };
  };
  /** Add a passkey. For: person. */
  'accounts.addPasskey': {
    args: {
      body: {
        name: string;
        passkey: {
          id: string;
          rawId: string;
          type: 'public-key';
          authenticatorAttachment?: 'platform' | 'cross-platform';
          clientExtensionResults?: { [name: string]: unknown };
          response: {
            clientDataJSON: string;
            attestationObject: string;
            authenticatorData?: string;
            transports?: Array<string>;
            publicKeyAlgorithm?: number;
            publicKey?: string;
          };
        };
      };
    };
    data: { passkey: Passkey; recoveryCodes?: Array<string> };
  };
  /** Start the authorization of an app. For: public. */
  'accounts.authorizeApp': { args: { client_id?: unknown; redirect_uri?: unknown }; data: unknown };
  /** Start adding an authenticator app. For: person. */
  'accounts.beginAuthenticator': { args: { body: PasswordProof }; data: { secret: string; uri: string } };
  /** Start adding a passkey. For: person. */
  'accounts.beginPasskey': { args: { body: PasswordProof }; data: PasskeyOptions };
  /** Get a challenge for signing in with a passkey. For: public. */
  'accounts.beginPasskeySignIn': { args: Record<never, never>; data: PasskeyOptions };
  /** Get a challenge for confirming a passkey again. For: person. */
  'accounts.beginPasskeyStepUp': { args: Record<never, never>; data: PasskeyOptions };
  /** Change your e-mail address. For: person. */
  'accounts.changeEmail': { args: { body: { email: string; password?: string } }; data: undefined };
  /** Change the role of a member. For: session, scope admin. */
  'accounts.changeMemberRole': {
    args: { userId: string; body: { role: 'owner' | 'admin' | 'member' | 'viewer' } };
    data: undefined;
  };
  /** Set the OpenID Connect provider of the organisation. For: session, scope admin. */
  'accounts.changeOrganisationProvider': {
    args: {
      body: {
        issuer: string;
        clientId: string;
        clientSecret?: string;
        domains: Array<string>;
        defaultRole: 'admin' | 'member' | 'viewer';
      };
    };
    data: OrganisationProvider;
  };
  /** Change or set your password. For: person. */
  'accounts.changePassword': {
    args: { body: { currentPassword?: string; newPassword: string } };
    data: undefined;
  };
  /** Confirm the authenticator app with a code. For: person. */
  'accounts.confirmAuthenticator': { args: { body: { code: string } }; data: RecoveryCodes };
  /** Confirm a change of address with the token from the mail. For: person. */
  'accounts.confirmEmail': { args: { body: MailedToken }; data: { status: 'changed' | 'waiting' } };
  /** Create an API key. For: session, scope admin. */
  'accounts.createKey': {
    args: {
      body: {
        name: string;
        permissions: 'read' | 'write' | 'admin';
        expiresAt?: string;
        tenants?: Array<string>;
        addresses?: Array<string>;
      };
    };
    data: {
      keyId: string;
      name: string;
      keyPrefix: string;
      permissions: 'read' | 'write' | 'admin';
      madeBy: string;
      expiresAt?: string;
      tenants?: Array<string>;
      addresses?: Array<string>;
      lastUsedAt?: string;
      createdAt: string;
      key: string;
    };
  };
  /** Create an organisation. For: person. */
  'accounts.createOrganisation': { args: { body: NewName }; data: Membership };
  /** Approve or deny an app. For: person. */
  'accounts.decideAppRequest': {
    args: { body: { request: string; accountId: string; approved: boolean; scope?: 'read' | 'write' } };
    data: { redirectTo: string };
  };
  /** Revoke an API key. For: session, scope admin. */
  'accounts.deleteKey': { args: { keyId: string }; data: undefined };
  /** Delete your account and everything in it. For: person. */
  'accounts.deleteMe': { args: { body: PasswordProof }; data: undefined };
  /** Download all data of your account. For: session, scope admin. */
  'accounts.download': { args: { body: { passphrase: string } }; data: Uint8Array };
  /** Disconnect an app. For: person. */
  'accounts.endApp': { args: { userId: string; sessionId: string }; data: undefined };
  /** End one of your sessions. For: person. */
  'accounts.endSession': { args: { sessionId: string }; data: undefined };
  /** End all your sessions. For: person. */
  'accounts.endSessions': { args: Record<never, never>; data: undefined };
  /** Export the audit trail. For: account, scope admin. */
  'accounts.exportAudit': { args: Record<never, never>; data: Uint8Array };
  /** Receive the redirect of the provider of an organisation. For: public. */
  'accounts.finishOrganisationSignIn': {
    args: { accountId: string; state?: string; code?: string; error?: string };
    data: unknown;
  };
  /** Reset the password. For: public. */
  'accounts.finishPasswordReset': {
    args: { body: { token: string; newPassword: string; endAccess?: boolean } };
    data: undefined;
  };
  /** Receive the redirect of a provider. For: public. */
  'accounts.finishProviderSignIn': {
    args: { provider: 'github' | 'google'; code?: string; state?: string; error?: string; iss?: string };
    data: unknown;
  };
  /** Finish signing up with the token from the mail. For: public. */
  'accounts.finishSignUp': {
    args: { body: { token: string; password: string; cookie?: boolean } };
    data: Tokens;
  };
  /** Get your account. For: account, scope read. */
  'accounts.getMe': { args: Record<never, never>; data: Profile };
  /** Get your usage this month and your storage. For: account, scope read. */
  'accounts.getUsage': { args: Record<never, never>; data: Usage };
  /** Exchange a code or a refresh token for tokens. For: public. */
  'accounts.grantAppTokens': {
    args: { body: string | Uint8Array<ArrayBuffer> | Blob };
    data: {
      access_token: string;
      token_type: 'Bearer';
      expires_in: number;
      refresh_token: string;
      scope: string;
    };
  };
  /** Invite someone to the organisation by mail. For: session, scope admin. */
  'accounts.invite': {
    args: { body: { email: string; role: 'admin' | 'member' | 'viewer' } };
    data: Invitation;
  };
  /** Get the public keys that verify tokens. For: public. */
  'accounts.jwks': { args: Record<never, never>; data: { keys: Array<{ [name: string]: unknown }> } };
  /** Leave an organisation. For: person. */
  'accounts.leaveOrganisation': { args: { accountId: string }; data: undefined };
  /** Link yourself to the provider of your organisation. For: person. */
  'accounts.linkOrganisationProvider': { args: { accountId: string; body: ProviderLink }; data: ProviderUrl };
  /** Link an identity to the account. For: person. */
  'accounts.linkProvider': { args: { provider: 'github' | 'google'; body: ProviderLink }; data: ProviderUrl };
  /** List connected apps. For: person. */
  'accounts.listApps': {
    args: { limit?: number; cursor?: string };
    data: { data: Array<App>; next_cursor: string | null };
  };
  /** List the audit trail, newest first. For: account, scope admin. */
  'accounts.listAudit': {
    args: { limit?: number; cursor?: string; by?: string; action?: string; from?: string; to?: string };
    data: { data: Array<AuditEntry>; next_cursor: string | null };
  };
  /** List pending invitations. For: session, scope admin. */
  'accounts.listInvitations': {
    args: Record<never, never>;
    data: { data: Array<Invitation>; next_cursor: null };
  };
  /** List your API keys. For: account, scope read. */
  'accounts.listKeys': { args: Record<never, never>; data: { data: Array<ApiKey>; next_cursor: null } };
  /** List the members of the organisation. For: account, scope read. */
  'accounts.listMembers': {
    args: { limit?: number; cursor?: string };
    data: { data: Array<Member>; next_cursor: string | null };
  };
  /** List your organisations. For: person. */
  'accounts.listOrganisations': {
    args: Record<never, never>;
    data: { data: Array<Membership>; next_cursor: null };
  };
  /** List your passkeys. For: person. */
  'accounts.listPasskeys': { args: Record<never, never>; data: { data: Array<Passkey>; next_cursor: null } };
  /** List the plans. For: public. */
  'accounts.listPlans': { args: Record<never, never>; data: { data: Array<Plan>; next_cursor: null } };
  /** List the providers for signing in. For: public. */
  'accounts.listProviders': { args: Record<never, never>; data: { data: Array<'github' | 'google'> } };
  /** List saved views, queries or templates. For: account, scope read. */
  'accounts.listSaved': {
    args: { kind: 'events' | 'sql' | 'messages' };
    data: { data: Array<SavedItem>; next_cursor: null };
  };
  /** List your sessions. For: person. */
  'accounts.listSessions': { args: Record<never, never>; data: { data: Array<Session>; next_cursor: null } };
  /** Sign in with a password. For: public. */
  'accounts.logIn': {
    args: {
      body: { email: string; cookie?: boolean; password: string; code?: string; passkey?: PasskeyAnswer };
    };
    data: Tokens;
  };
  /** End this session. For: person. */
  'accounts.logOut': { args: Record<never, never>; data: undefined };
  /** Mint a token for your own inbox. For: account, scope read. */
  'accounts.mintInboxToken': {
    args: Record<never, never>;
    data: { token: string; tenant_id: string; sub: string; expires_at: string };
  };
  /** Open Stripe's billing portal to change or cancel the subscription or see invoices. For: session, scope admin. */
  'accounts.openBillingPortal': { args: { body: { return_to?: string } }; data: BillingPage };
  /** Get what an app is asking for. For: person. */
  'accounts.readAppRequest': {
    args: { body: { request: string } };
    data: {
      name: string;
      redirectHost: string;
      scope: 'read' | 'write';
      mostScope: 'read' | 'write';
      accountId: string;
      organisation: string;
    };
  };
  /** Get the metadata of the authorization server (RFC 8414). For: public. */
  'accounts.readAuthorizationServer': {
    args: Record<never, never>;
    data: {
      issuer: string;
      authorization_endpoint: string;
      token_endpoint: string;
      registration_endpoint: string;
      revocation_endpoint: string;
      jwks_uri: string;
      scopes_supported: Array<string>;
      response_types_supported: Array<string>;
      response_modes_supported: Array<string>;
      grant_types_supported: Array<string>;
      token_endpoint_auth_methods_supported: Array<string>;
      revocation_endpoint_auth_methods_supported: Array<string>;
      code_challenge_methods_supported: Array<string>;
      authorization_response_iss_parameter_supported: boolean;
    };
  };
  /** Get the account's subscription. For: account, scope read. */
  'accounts.readBilling': {
    args: Record<never, never>;
    data: {
      plan: 'free' | 'starter' | 'pro' | 'team' | 'selfhosted';
      status?: string;
      currentPeriodEnd?: string;
      cancelAtPeriodEnd?: boolean;
      plansSold: Array<'starter' | 'pro' | 'team'>;
    };
  };
  /** Get an invitation by its token. For: public. */
  'accounts.readInvitation': {
    args: { body: InvitationToken };
    data: {
      name: string;
      email: string;
      role: 'owner' | 'admin' | 'member' | 'viewer';
      invitedBy?: string;
      expiresAt: string;
    };
  };
  /** Get the current organisation. For: account, scope read. */
  'accounts.readOrganisation': { args: Record<never, never>; data: Organisation };
  /** Get the identity provider of the organisation. For: session, scope admin. */
  'accounts.readOrganisationProvider': { args: Record<never, never>; data: OrganisationProvider };
  /** Get the organisation of a sign-in page. For: public. */
  'accounts.readOrganisationSignIn': {
    args: { accountId: string };
    data: { accountId: string; name: string };
  };
  /** Get the metadata of the MCP server (RFC 9728). For: public. */
  'accounts.readProtectedResource': {
    args: Record<never, never>;
    data: {
      resource: string;
      authorization_servers: Array<string>;
      scopes_supported: Array<string>;
      bearer_methods_supported: Array<string>;
      resource_name: string;
    };
  };
  /** Exchange a refresh token for new tokens. For: public. */
  'accounts.refresh': { args: { body: { refresh_token?: string } }; data: Tokens };
  /** Register an app (RFC 7591). For: public. */
  'accounts.registerApp': {
    args: { body: string | Uint8Array<ArrayBuffer> | Blob };
    data: {
      client_id: string;
      client_id_issued_at: number;
      client_name: string;
      redirect_uris: Array<string>;
      grant_types: Array<string>;
      response_types: Array<string>;
      token_endpoint_auth_method: 'none';
    };
  };
  /** Remove the authenticator app. For: person. */
  'accounts.removeAuthenticator': { args: { body: PasswordProof }; data: undefined };
  /** Remove a member. For: session, scope admin. */
  'accounts.removeMember': { args: { userId: string }; data: undefined };
  /** Remove the provider of the organisation. For: session, scope admin. */
  'accounts.removeOrganisationProvider': { args: Record<never, never>; data: undefined };
  /** Remove a passkey. For: person. */
  'accounts.removePasskey': { args: { passkeyId: string; body: PasswordProof }; data: undefined };
  /** Remove a saved view, query or template. For: account, scope write. */
  'accounts.removeSaved': { args: { kind: 'events' | 'sql' | 'messages'; name: string }; data: undefined };
  /** Rename the organisation. For: session, scope admin. */
  'accounts.renameOrganisation': { args: { body: NewName }; data: Organisation };
  /** Rename a passkey. For: person. */
  'accounts.renamePasskey': { args: { passkeyId: string; body: NewName }; data: Passkey };
  /** Replace the recovery codes. For: person. */
  'accounts.renewRecoveryCodes': { args: Record<never, never>; data: RecoveryCodes };
  /** Request a password reset. For: public. */
  'accounts.requestPasswordReset': { args: { body: { email: string } }; data: undefined };
  /** Request a mail to create an account. For: public. */
  'accounts.requestSignUp': {
    args: { body: { email: string; password: string; name: string } };
    data: undefined;
  };
  /** Resend an invitation with a new link. For: session, scope admin. */
  'accounts.resendInvitation': { args: { invitationId: string }; data: Invitation };
  /** Disconnect the app that a token belongs to (RFC 7009). For: public. */
  'accounts.revokeAppToken': { args: { body: string | Uint8Array<ArrayBuffer> | Blob }; data: undefined };
  /** Save a view, a query or a template under a name. For: account, scope write. */
  'accounts.save': {
    args: { kind: 'events' | 'sql' | 'messages'; name: string; body: { text: string } };
    data: SavedItem;
  };
  /** Resend the verification mail. For: person. */
  'accounts.sendVerification': { args: Record<never, never>; data: undefined };
  /** Show a page to unsubscribe from a kind of notice. For: public. */
  'accounts.showUnsubscribe': { args: { token: string }; data: string };
  /** Sign in with a passkey. For: public. */
  'accounts.signInWithPasskey': {
    args: { body: { passkey: PasskeyAnswer; cookie?: boolean } };
    data: Tokens;
  };
  /** Create an account and sign in. For: public. */
  'accounts.signUp': {
    args: { body: { email: string; cookie?: boolean; password: string; name: string } };
    data: Tokens;
  };
  /** Buy a plan. For: session, scope admin. */
  'accounts.startCheckout': {
    args: { body: { plan: 'starter' | 'pro' | 'team'; return_to?: string } };
    data: BillingPage;
  };
  /** Sign in through the provider of an organisation. For: public. */
  'accounts.startOrganisationSignIn': { args: { accountId: string; return_to?: string }; data: unknown };
  /** Sign in with GitHub or Google. For: public. */
  'accounts.startProviderSignIn': {
    args: { provider: 'github' | 'google'; return_to?: string };
    data: unknown;
  };
  /** Confirm your second factor again. For: person. */
  'accounts.stepUp': { args: { body: { code?: string; passkey?: PasskeyAnswer } }; data: undefined };
  /** Switch to another organisation. For: person. */
  'accounts.switchOrganisation': { args: { body: { accountId: string; cookie?: boolean } }; data: Tokens };
  /** Receive events from Stripe. For: provider. */
  'accounts.takeStripeEvent': {
    args: { body: string | Uint8Array<ArrayBuffer> | Blob };
    data: { outcome: 'applied' | 'repeated' | 'ignored' };
  };
  /** Test the provider. For: session, scope admin. */
  'accounts.testOrganisationProvider': {
    args: Record<never, never>;
    data: { isWorking: boolean; detail: string };
  };
  /** Transfer ownership to a member. For: session, scope admin. */
  'accounts.transferOwnership': { args: { userId: string; body: { password?: string } }; data: undefined };
  /** Unlink yourself from the provider of an organisation. For: person. */
  'accounts.unlinkOrganisationProvider': { args: { accountId: string }; data: undefined };
  /** Unlink an identity. For: person. */
  'accounts.unlinkProvider': { args: { provider: 'github' | 'google' }; data: undefined };
  /** Unsubscribe from a kind of notice. For: public. */
  'accounts.unsubscribe': {
    args: { token: string; body: string | Uint8Array<ArrayBuffer> | Blob };
    data: string;
  };
  /** Update your account. For: account, scope admin. */
  'accounts.updateMe': {
    args: { body: { name?: string; mails?: { deliveries?: boolean; limits?: boolean } } };
    data: Profile;
  };
  /** Verify your address with the token from the mail. For: person. */
  'accounts.verifyEmail': { args: { body: MailedToken }; data: undefined };
  /** Get the caller of a token. For: user, scope read. */
  'accounts.whoAmI': {
    args: Record<never, never>;
    data:
      | {
          kind: 'account';
          accountId: string;
          scope: 'read' | 'write' | 'admin';
          via: 'session' | 'api_key' | 'app';
          credentialId: string;
          userId: string;
          role?: 'owner' | 'admin' | 'member' | 'viewer';
          tenants?: Array<string>;
        }
      | { kind: 'endUser'; tenantId: string; userId: string; scope: string };
  };
  /** Withdraw an invitation. For: session, scope admin. */
  'accounts.withdrawInvitation': { args: { invitationId: string }; data: undefined };
  /** Accept the changed tools of an MCP server. For: account, scope admin. */
  'agents.acceptMcpTools': {
    args: { tenant_id: string; name: string; body: { tools: Array<{ name: string; hash: string }> } };
    data: McpServer;
  };
  /** Call the agent, in the A2A protocol. For: user, scope write. */
  'agents.callA2a': { args: { tenant_id: string; body: A2aRequest }; data: A2aAnswer };
  /** Stop the answer in progress. For: user, scope write. */
  'agents.cancelAnswer': {
    args: { tenant_id: string; conversation_id: string };
    data: { cancelled: Array<string> };
  };
  /** Stop a response, in OpenAI's protocol. For: user, scope write. */
  'agents.cancelResponse': { args: { tenant_id: string; response_id: string }; data: Response };
  /** Opt out of being remembered, or edit the summary. For: user, scope write. */
  'agents.changeMemorySettings': {
    args: {
      tenant_id: string;
      user_id: string;
      body: { is_declined?: boolean; memory_summary?: string | null };
    };
    data: MemoryStatus;
  };
  /** Clear a conversation. For: user, scope write. */
  'agents.clearConversation': { args: { tenant_id: string; conversation_id: string }; data: undefined };
  /** Create a chat completion, in OpenAI's protocol. For: user, scope write. */
  'agents.createChatCompletion': {
    args: { tenant_id: string; 'idempotency-key'?: string; body: ChatCompletionRequest };
    data: ChatCompletion;
  };
  /** Create a conversation. For: user, scope write. */
  'agents.createConversation': {
    args: {
      tenant_id: string;
      body: {
        conversation_id?: string;
        title?: string;
        user_id?: string;
        agent?: string;
        agent_version?: number | 'draft';
        variables?: { [name: string]: string };
      };
    };
    data: Conversation;
  };
  /** Create a response, in OpenAI's protocol. For: user, scope write. */
  'agents.createResponse': {
    args: { tenant_id: string; 'idempotency-key'?: string; body: ResponseRequest };
    data: Response;
  };
  /** Approve or refuse a call. For: user, scope write. */
  'agents.decideApproval': {
    args: {
      tenant_id: string;
      conversation_id: string;
      approval_id: string;
      body: { approved: boolean; reason?: string };
    };
    data: Approval;
  };
  /** Delete an agent. For: account, scope admin. */
  'agents.deleteAgent': { args: { tenant_id: string; name: string }; data: undefined };
  /** Remove the secrets of a channel. For: user, scope write. */
  'agents.deleteChannelCredentials': {
    args: { tenant_id: string; type: 'slack' | 'teams' | 'telegram' | 'whatsapp'; channel_id: string };
    data: undefined;
  };
  /** Delete a conversation. For: user, scope write. */
  'agents.deleteConversation': { args: { tenant_id: string; conversation_id: string }; data: undefined };
  /** Remove a custom skill. For: account, scope admin. */
  'agents.deleteCustomSkill': { args: { tenant_id: string; name: string }; data: undefined };
  /** Remove an MCP server. For: account, scope admin. */
  'agents.deleteMcpServer': { args: { tenant_id: string; name: string }; data: undefined };
  /** Forget what is remembered from a conversation. For: user, scope write. */
  'agents.deleteMemory': {
    args: { tenant_id: string; user_id: string; session_id: string };
    data: undefined;
  };
  /** Edit what is remembered from a conversation. For: user, scope write. */
  'agents.editMemory': {
    args: {
      tenant_id: string;
      user_id: string;
      session_id: string;
      body: { summary?: string | null; key_facts?: Array<{ fact_id?: string; fact: string }> };
    };
    data: Memory;
  };
  /** Export a conversation. For: user, scope read. */
  'agents.exportConversation': { args: { tenant_id: string; conversation_id: string }; data: Uint8Array };
  /** Get an agent. For: account, scope read. */
  'agents.getAgent': { args: { tenant_id: string; name: string }; data: Agent };
  /** Get the A2A card of the agent. For: user, scope read. */
  'agents.getAgentCard': { args: { tenant_id: string }; data: AgentCard };
  /** Compare two versions of an agent. For: account, scope read. */
  'agents.getAgentDifferences': {
    args: { tenant_id: string; name: string; from?: 'draft' | number; to?: 'draft' | number };
    data: AgentDifferences;
  };
  /** Get a version of an agent. For: account, scope read. */
  'agents.getAgentVersion': {
    args: { tenant_id: string; name: string; version: number };
    data: AgentVersion;
  };
  /** Get an approval. For: user, scope read. */
  'agents.getApproval': {
    args: { tenant_id: string; conversation_id: string; approval_id: string };
    data: Approval;
  };
  /** Get a conversation and its newest turns. For: user, scope read. */
  'agents.getConversation': { args: { tenant_id: string; conversation_id: string }; data: Conversation };
  /** Get a custom skill. For: account, scope read. */
  'agents.getCustomSkill': { args: { tenant_id: string; name: string }; data: CustomSkill };
  /** Get an MCP server and its tools. For: account, scope read. */
  'agents.getMcpServer': { args: { tenant_id: string; name: string }; data: McpServer };
  /** Get the memory settings and summary of a user. For: user, scope read. */
  'agents.getMemorySettings': { args: { tenant_id: string; user_id: string }; data: MemoryStatus };
  /** Get a model, in OpenAI's protocol. For: user, scope read. */
  'agents.getOpenAiModel': { args: { tenant_id: string; model: string }; data: OpenAiModel };
  /** Get the answer to a message, or wait for it. For: user, scope read. */
  'agents.getReply': {
    args: { tenant_id: string; conversation_id: string; message_id: string };
    data: MessageReply | WaitingReply;
  };
  /** Get a response, in OpenAI's protocol. For: user, scope read. */
  'agents.getResponse': { args: { tenant_id: string; response_id: string }; data: Response };
  /** Get messages, tokens and cost of the whole tenant by day. For: user, scope read. */
  'agents.getTenantUsage': { args: { tenant_id: string; from?: string; to?: string }; data: AgentUsage };
  /** Get messages, tokens and cost by day. For: user, scope read. */
  'agents.getUsage': {
    args: { tenant_id: string; from?: string; to?: string; user_id?: string };
    data: AgentUsage;
  };
  /** Import a conversation. For: user, scope write. */
  'agents.importConversation': {
    args: {
      tenant_id: string;
      body: {
        conversation_id?: string;
        title?: string;
        user_id?: string;
        messages: Array<
          | { role: 'user' | 'system'; content: string }
          | { role: 'assistant'; content: string | Array<ImportedTextPart | ToolCallPart | ToolResultPart> }
          | { role: 'tool'; content: Array<ImportedTextPart | ToolCallPart | ToolResultPart> }
        >;
      };
    };
    data: Conversation;
  };
  /** List the versions of an agent. For: account, scope read. */
  'agents.listAgentVersions': {
    args: { tenant_id: string; name: string; limit?: number; cursor?: string };
    data: { data: Array<ListedAgentVersion>; next_cursor: string | null };
  };
  /** List the agents of a tenant. For: account, scope read. */
  'agents.listAgents': { args: { tenant_id: string; limit?: number; cursor?: string }; data: AgentPage };
  /** List pending approvals. For: user, scope read. */
  'agents.listApprovals': {
    args: { tenant_id: string; limit?: number; cursor?: string };
    data: ApprovalPage;
  };
  /** List the channels that have credentials. For: user, scope read. */
  'agents.listChannelCredentials': {
    args: { tenant_id: string; limit?: number; cursor?: string };
    data: { data: Array<ChannelCredentials>; next_cursor: string | null };
  };
  /** List the approvals of a conversation. For: user, scope read. */
  'agents.listConversationApprovals': {
    args: { tenant_id: string; conversation_id: string; limit?: number; cursor?: string };
    data: ApprovalPage;
  };
  /** List conversations, newest first. For: user, scope read. */
  'agents.listConversations': {
    args: { tenant_id: string; limit?: number; cursor?: string; user_id?: string };
    data: { data: Array<ListedConversation>; next_cursor: string | null };
  };
  /** List custom skills. For: account, scope read. */
  'agents.listCustomSkills': {
    args: { tenant_id: string; limit?: number; cursor?: string };
    data: { data: Array<CustomSkill>; next_cursor: string | null };
  };
  /** List the MCP servers of a tenant. For: account, scope read. */
  'agents.listMcpServers': {
    args: { tenant_id: string; limit?: number; cursor?: string };
    data: { data: Array<McpServer>; next_cursor: string | null };
  };
  /** List what is remembered about a user. For: user, scope read. */
  'agents.listMemory': {
    args: { tenant_id: string; user_id: string; limit?: number; cursor?: string };
    data: { data: Array<Memory>; next_cursor: string | null };
  };
  /** List the turns of a conversation. For: user, scope read. */
  'agents.listMessages': {
    args: {
      tenant_id: string;
      conversation_id: string;
      limit?: number;
      cursor?: string;
      order?: 'oldest' | 'newest';
    };
    data: { data: Array<Turn>; next_cursor: string | null };
  };
  /** List the models that tenants can choose. For: account, scope read. */
  'agents.listModels': {
    args: Record<never, never>;
    data: { data: Array<Model>; default: string | null; missing: string | null };
  };
  /** List the models, in OpenAI's protocol. For: user, scope read. */
  'agents.listOpenAiModels': {
    args: { tenant_id: string };
    data: { object: 'list'; data: Array<OpenAiModel> };
  };
  /** List skills. For: user, scope read. */
  'agents.listSkills': { args: { tenant_id: string }; data: { data: Array<Skill> } };
  /** Publish an agent, or roll it back. For: account, scope admin. */
  'agents.publishAgent': {
    args: { tenant_id: string; name: string; body: { version?: number; note?: string } };
    data: Agent;
  };
  /** Set the secrets of a channel. For: user, scope write. */
  'agents.putChannelCredentials': {
    args: {
      tenant_id: string;
      type: 'slack' | 'teams' | 'telegram' | 'whatsapp';
      channel_id: string;
      body: { [name: string]: string };
    };
    data: ChannelCredentials;
  };
  /** Create or update a custom skill. For: account, scope admin. */
  'agents.putCustomSkill': {
    args: { tenant_id: string; name: string; 'if-none-match'?: '*'; body: SkillDraft };
    data: CustomSkill;
  };
  /** Create or update an MCP server. For: account, scope admin. */
  'agents.putMcpServer': {
    args: { tenant_id: string; name: string; body: { url: string; headers?: { [name: string]: string } } };
    data: McpServer;
  };
  /** Say whether an answer was good. For: user, scope write. */
  'agents.rateAnswer': {
    args: {
      tenant_id: string;
      conversation_id: string;
      seq: number;
      body: { rating: 'good' | 'bad' | null; comment?: string };
    };
    data: Turn;
  };
  /** Refresh the tools of an MCP server. For: account, scope write. */
  'agents.refreshMcpServer': { args: { tenant_id: string; name: string }; data: McpServer };
  /** Rename a conversation. For: user, scope write. */
  'agents.renameConversation': {
    args: { tenant_id: string; conversation_id: string; body: { title: string } };
    data: Conversation;
  };
  /** Resume the stream, at the address that the AI SDK uses by default. For: user, scope read. */
  'agents.resumeUiChat': {
    args: { tenant_id: string; conversation_id: string; chat_id: string };
    event: unknown;
  };
  /** Resume the stream of an answer in progress. For: user, scope read. */
  'agents.resumeUiStream': { args: { tenant_id: string; conversation_id: string }; event: unknown };
  /** Create an agent, or change its draft. For: account, scope admin. */
  'agents.saveAgent': {
    args: { tenant_id: string; name: string; 'if-none-match'?: '*'; body: AgentDefinition };
    data: Agent;
  };
  /** Send a message and get an answer. For: user, scope write. */
  'agents.sendMessage': {
    args: {
      tenant_id: string;
      conversation_id: string;
      'stak-cause'?: string;
      'idempotency-key'?: string;
      body: { content: string; user_id?: string; agent?: string };
    };
    data: MessageReply | WaitingReply;
  };
  /** Send a message in the AI SDK's protocol. For: user, scope write. */
  'agents.sendUiMessage': {
    args: {
      tenant_id: string;
      conversation_id: string;
      body: {
        messages: Array<{
          id: string;
          role: string;
          parts: Array<{
            type: string;
            text?: string;
            state?: string;
            approval?: unknown;
            [name: string]: unknown;
          }>;
          [name: string]: unknown;
        }>;
        trigger?: string;
        user_id?: string;
        agent?: string;
        cancel_on_disconnect?: boolean;
        [name: string]: unknown;
      };
    };
    event: unknown;
  };
  /** Receive messages from Slack, Teams, Telegram and WhatsApp. For: provider. */
  'agents.takeWebhook': {
    args: {
      type: 'slack' | 'teams' | 'telegram' | 'whatsapp';
      id: string;
      body: string | Uint8Array<ArrayBuffer> | Blob;
    };
    data: { challenge?: string; statusCode?: number; type?: string; value?: string };
  };
  /** Call a custom skill once. For: account, scope admin. */
  'agents.testCustomSkill': {
    args: {
      tenant_id: string;
      name: string;
      body: { arguments: { [name: string]: unknown }; draft?: SkillDraft };
    };
    data: { ok: boolean; output?: unknown; text: string | null; reason: string | null; duration_ms: number };
  };
  /** Test a model with one question. For: account, scope admin. */
  'agents.testModel': {
    args: { body: { provider?: string; model?: string; instructions?: string; message?: string } };
    data: {
      provider: string;
      model: string;
      answer: string;
      usage: TokenUsage;
      cost_usd: number;
      duration_ms: number;
    };
  };
  /** Answer the handshake of WhatsApp. For: public. */
  'agents.verifyWebhook': {
    args: { type: 'slack' | 'teams' | 'telegram' | 'whatsapp'; id: string; 'hub.challenge'?: string };
    data: string;
  };
  /** Archive a message. For: user, scope write. */
  'inbox.archive': {
    args: { tenant_id: string; inbox_key: string; uid: 'me' | string; id: string };
    data: Message;
  };
  /** Archive messages. For: user, scope write. */
  'inbox.archiveMany': {
    args: { tenant_id: string; inbox_key: string; uid: 'me' | string; body: MessageIds };
    data: MarkedMessages;
  };
  /** Publish a message to everyone. For: account, scope write. */
  'inbox.broadcast': {
    args: {
      tenant_id: string;
      inbox_key: string;
      'stak-cause'?: string;
      body: {
        message: MessageContent;
        taxonomy?: Taxonomy;
        host_system_id?: string | null;
        sender?: string;
        label?: string;
        ttl?: string;
        expiredat?: number;
        send_at?: number;
      };
    };
    data: Send;
  };
  /** Publish several messages. For: account, scope write. */
  'inbox.bulk': {
    args: { tenant_id: string; inbox_key: string; body: { messages: Array<NewMessage> } };
    data: { data: Array<{ ok: true; send: Send } | { ok: false; code: string; detail: string }> };
  };
  /** Cancel a scheduled send. For: account, scope write. */
  'inbox.cancel': { args: { tenant_id: string; inbox_key: string; id: string }; data: undefined };
  /** Count all, unread and unseen messages, in total and by category. For: user, scope read. */
  'inbox.counts': { args: { tenant_id: string; inbox_key: string; uid: 'me' | string }; data: MessageCounts };
  /** Delete a category. For: account, scope write. */
  'inbox.deleteCategory': {
    args: { tenant_id: string; inbox_key: string; category: string; messages?: 'keep' | 'delete' };
    data: CategoryErasure | undefined;
  };
  /** Delete an inbox and everything in it. For: account, scope admin. */
  'inbox.deleteInbox': { args: { tenant_id: string; inbox_key: string }; data: InboxErasure };
  /** Export all receipts of a message as a file. For: account, scope read. */
  'inbox.exportReceipts': {
    args: { tenant_id: string; inbox_key: string; id: string; format?: 'ndjson' | 'csv' };
    data: Uint8Array;
  };
  /** List the user's messages, newest first. For: user, scope read. */
  'inbox.feed': {
    args: {
      tenant_id: string;
      inbox_key: string;
      uid: 'me' | string;
      limit?: number;
      cursor?: string;
      category?: string;
      read?: 'true' | 'false';
      archived?: 'true' | 'false';
      snoozed?: 'true' | 'false';
    };
    data: { data: Array<Message>; next_cursor: string | null };
  };
  /** Make a user a member of the inbox. For: user, scope write. */
  'inbox.join': { args: { tenant_id: string; inbox_key: string; uid: 'me' | string }; data: InboxMember };
  /** List the categories that have messages. For: account, scope read. */
  'inbox.listCategories': {
    args: { tenant_id: string; inbox_key: string };
    data: { data: Array<Category>; next_cursor: string | null };
  };
  /** List inboxes. For: account, scope read. */
  'inbox.listInboxes': {
    args: { tenant_id: string };
    data: { data: Array<Inbox>; next_cursor: string | null };
  };
  /** List the recipients of a message, and when they read it. For: account, scope read. */
  'inbox.listReceipts': {
    args: {
      tenant_id: string;
      inbox_key: string;
      id: string;
      limit?: number;
      cursor?: string;
      read?: 'true' | 'false';
    };
    data: { data: Array<Receipt>; next_cursor: string | null };
  };
  /** List scheduled sends. For: account, scope read. */
  'inbox.listScheduled': {
    args: { tenant_id: string; inbox_key: string; limit?: number; cursor?: string };
    data: SendPage;
  };
  /** List sends, with how many were delivered and read. For: account, scope read. */
  'inbox.listSends': {
    args: { tenant_id: string; inbox_key: string; limit?: number; cursor?: string };
    data: SendPage;
  };
  /** Mark a message as read. For: user, scope write. */
  'inbox.markRead': {
    args: { tenant_id: string; inbox_key: string; uid: 'me' | string; id: string };
    data: Message;
  };
  /** Mark a message as unread. For: user, scope write. */
  'inbox.markUnread': {
    args: { tenant_id: string; inbox_key: string; uid: 'me' | string; id: string };
    data: Message;
  };
  /** Count the messages to everyone, by category, and the members. For: account, scope read. */
  'inbox.publicCounts': {
    args: { tenant_id: string; inbox_key: string };
    data: { published: number; categories: { [name: string]: number }; members: number };
  };
  /** Publish a message to users. For: account, scope write. */
  'inbox.publish': {
    args: { tenant_id: string; inbox_key: string; 'stak-cause'?: string; body: NewMessage };
    data: Send;
  };
  /** Get the progress of the deletion of a category. For: account, scope read. */
  'inbox.readCategoryErasure': {
    args: { tenant_id: string; inbox_key: string; category: string };
    data: CategoryErasure;
  };
  /** Get the progress of the deletion of an inbox. For: account, scope read. */
  'inbox.readErasure': { args: { tenant_id: string; inbox_key: string }; data: InboxErasure };
  /** Get an inbox. For: account, scope read. */
  'inbox.readInbox': { args: { tenant_id: string; inbox_key: string }; data: Inbox };
  /** Mark messages as read. For: user, scope write. */
  'inbox.readMany': {
    args: { tenant_id: string; inbox_key: string; uid: 'me' | string; body: MessageIds | MarkRange };
    data: MarkedMessages;
  };
  /** Get a message. For: user, scope read. */
  'inbox.readMessage': {
    args: { tenant_id: string; inbox_key: string; uid: 'me' | string; id: string };
    data: Message;
  };
  /** Get a send and its progress. For: account, scope read. */
  'inbox.readSend': { args: { tenant_id: string; inbox_key: string; id: string }; data: Send };
  /** Get the settings of a tenant's inboxes. For: account, scope read. */
  'inbox.readSettings': { args: { tenant_id: string }; data: InboxSettings };
  /** Redact a message for all recipients. For: account, scope write. */
  'inbox.redact': { args: { tenant_id: string; inbox_key: string; id: string }; data: undefined };
  /** Redact a message by its host_system_id. For: account, scope write. */
  'inbox.redactHostId': {
    args: { tenant_id: string; inbox_key: string; host_system_id: string };
    data: undefined;
  };
  /** Mark messages as seen. For: user, scope write. */
  'inbox.seeMany': {
    args: { tenant_id: string; inbox_key: string; uid: 'me' | string; body: MessageIds | MarkRange };
    data: MarkedMessages;
  };
  /** Snooze a message. For: user, scope write. */
  'inbox.snooze': {
    args: { tenant_id: string; inbox_key: string; uid: 'me' | string; id: string; body: { until: number } };
    data: Message;
  };
  /** Stream new messages, redactions and counts. For: user, scope read. */
  'inbox.stream': { args: { tenant_id: string; inbox_key: string; uid: 'me' | string }; event: unknown };
  /** Move a message out of the archive. For: user, scope write. */
  'inbox.unarchive': {
    args: { tenant_id: string; inbox_key: string; uid: 'me' | string; id: string };
    data: Message;
  };
  /** Mark messages as unread. For: user, scope write. */
  'inbox.unreadMany': {
    args: { tenant_id: string; inbox_key: string; uid: 'me' | string; body: MessageIds };
    data: MarkedMessages;
  };
  /** Show a snoozed message now. For: user, scope write. */
  'inbox.unsnooze': {
    args: { tenant_id: string; inbox_key: string; uid: 'me' | string; id: string };
    data: Message;
  };
  /** Create or configure an inbox. For: account, scope write. */
  'inbox.writeInbox': {
    args: {
      tenant_id: string;
      inbox_key: string;
      body: {
        title: string;
        description?: string;
        ttl?: { [name: string]: string };
        schema?: { [name: string]: unknown };
        late_joiners?: 'all' | 'none' | LastMessages;
        unique_host_system_ids?: boolean;
        cta_schemes?: Array<string>;
      };
    };
    data: Inbox;
  };
  /** Set the settings of a tenant's inboxes. For: account, scope write. */
  'inbox.writeSettings': {
    args: { tenant_id: string; body: { title: string; ttl?: string } };
    data: InboxSettings;
  };
  /** List insights. For: user, scope read. */
  'insights.list': {
    args: Record<never, never>;
    data: { data: Array<{ name: string; description: string }> };
  };
  /** Get an insight: numbers about your data, seconds old. For: user, scope read. */
  'insights.read': {
    args: { name: string; days?: number };
    data: {
      name: string;
      whose: 'user' | 'account' | 'account_and_tenants';
      data: Array<{ [name: string]: string | number | null }>;
      as_of: string;
      lag_ms: number;
      caught_up: boolean;
    };
  };
  /** Query your data with SQL, into a file. For: user, scope read. */
  'lake.export': {
    args: {
      body: {
        sql: string;
        params?:
          | Array<string | number | boolean | null>
          | { [name: string]: string | number | boolean | null };
        format?: 'csv' | 'arrow' | 'parquet';
      };
    };
    data: string;
  };
  /** Get the changes of one row. For: account, scope read. */
  'lake.history': {
    args: { table: string; id: string };
    data: {
      since: string;
      data: Array<{
        at: string;
        kind: 'insert' | 'modify' | 'remove';
        changes: Array<{ field: string; before?: unknown; after?: unknown }>;
      }>;
      as_of: string;
      lag_ms: number;
      caught_up: boolean;
    };
  };
  /** Get the settings for Iceberg clients. For: account, scope read. */
  'lake.icebergConfig': { args: { warehouse?: string }; data: IcebergConfig };
  /** Get a file of a table, for S3 clients. For: provider. */
  'lake.icebergFile': {
    args: { bucket: 'stak'; table: string; kind: 'metadata' | 'data'; file: string };
    data: Uint8Array;
  };
  /** Get a namespace of your Iceberg catalog. For: account, scope read. */
  'lake.icebergNamespace': { args: { namespace: string }; data: IcebergNamespace };
  /** List the namespaces of your Iceberg catalog. For: account, scope read. */
  'lake.icebergNamespaces': {
    args: { parent?: string; pageToken?: string; pageSize?: string };
    data: IcebergNamespaces;
  };
  /** Load a table with your rows. For: account, scope read. */
  'lake.icebergTable': {
    args: { namespace: string; table: string; snapshots?: 'all' | 'refs' };
    data: IcebergTable;
  };
  /** List the tables of a namespace. For: account, scope read. */
  'lake.icebergTables': {
    args: { namespace: string; pageToken?: string; pageSize?: string };
    data: IcebergTables;
  };
  /** Get the settings for Iceberg clients of an operator. For: user, scope read. */
  'lake.operatorIcebergConfig': { args: { warehouse?: string }; data: IcebergConfig };
  /** Get a namespace of the operator’s Iceberg catalog. For: user, scope read. */
  'lake.operatorIcebergNamespace': { args: { namespace: string }; data: IcebergNamespace };
  /** List the namespaces of the operator’s Iceberg catalog. For: user, scope read. */
  'lake.operatorIcebergNamespaces': {
    args: { parent?: string; pageToken?: string; pageSize?: string };
    data: IcebergNamespaces;
  };
  /** Load a table with the rows of all accounts. For: user, scope read. */
  'lake.operatorIcebergTable': {
    args: { namespace: string; table: string; snapshots?: 'all' | 'refs' };
    data: IcebergTable;
  };
  /** List the tables of a namespace, for an operator. For: user, scope read. */
  'lake.operatorIcebergTables': {
    args: { namespace: string; pageToken?: string; pageSize?: string };
    data: IcebergTables;
  };
  /** Query your data with SQL. For: user, scope read. */
  'lake.query': {
    args: {
      body: {
        sql: string;
        params?:
          | Array<string | number | boolean | null>
          | { [name: string]: string | number | boolean | null };
      };
    };
    data: {
      columns: Array<LakeColumn>;
      rows: Array<Array<unknown>>;
      truncated: boolean;
      as_of: string;
      lag_ms: number;
      caught_up: boolean;
    };
  };
  /** Get whether texts are in the lake. For: account, scope read. */
  'lake.readTexts': { args: Record<never, never>; data: LakeTexts };
  /** Keep texts in the lake, or erase them. For: session, scope admin. */
  'lake.setTexts': { args: { body: { enabled: boolean } }; data: LakeTexts };
  /** Get the lag of the lake, and its tables. For: account, scope read. */
  'lake.status': {
    args: Record<never, never>;
    data: {
      tables: Array<{
        table: string;
        last_commit_at: string | null;
        backfill: { segments: number; finished: number } | null;
        as_of: string;
        lag_ms: number;
        caught_up: boolean;
      }>;
      views: Array<{ name: string; description: string; columns: Array<LakeColumn> }>;
    };
  };
  /** List the operations that you can call. For: session, scope read. */
  'system.permissions': { args: Record<never, never>; data: { operations: Array<string> } };
  /** Get the lag of stream consumers and the state of workers. For: session, scope read. */
  'system.status': {
    args: Record<never, never>;
    data: {
      at: string;
      streams: Array<{
        consumer: string;
        table: string;
        lag_ms: number;
        caught_up: boolean;
        set_aside: boolean;
      }>;
      workers: { running: number; waiting: Array<string> };
      operator: {
        capacity: {
          since: string;
          read_units: number;
          write_units: number;
          tables: Array<{ table: string; calls: number; read_units: number; write_units: number }>;
        };
        dead_letters: number;
      } | null;
    };
  };
  /** Explain why something happened, and what followed. For: user, scope read. */
  'system.why': {
    args: { id: string };
    data: { root: WhyNode; chain: Array<WhyNode>; followed: Array<WhyFollowed>; has_more: boolean };
  };
  /** Follow the stream of a table. For: user, scope read. */
  'tables.changes': {
    args: { table: string };
    event: {
      kind: 'insert' | 'modify' | 'remove' | 'expire';
      at: string;
      item: TableItem;
      before: Array<TableAttribute> | null;
      changed: Array<string>;
    };
  };
  /** Get the design of a table and the capacity of its access patterns. For: user, scope read. */
  'tables.get': {
    args: { table: string };
    data: {
      name: string;
      description: string;
      keys: TableKeyNames;
      ttl: string | null;
      stream: string | null;
      status: string;
      items: number;
      bytes: number;
      ttl_status: string | null;
      since: string;
      entities: Array<{
        name: string;
        kind: string | null;
        description: string;
        expires: boolean;
        version: string | null;
        in_key_only: Array<string>;
        keys: Array<{ index: string | null; partition: string; sort: string | null }>;
        attributes: Array<{ name: string; type: string; is_optional: boolean; description: string }>;
      }>;
      indexes: Array<{
        name: string;
        keys: TableKeyNames;
        projection: 'ALL' | 'KEYS_ONLY' | 'INCLUDE';
        included: Array<string>;
        status: string;
        items: number;
        bytes: number;
      }>;
      patterns: Array<{
        name: string;
        kind: 'query' | 'item' | 'other';
        index: string | null;
        conditions: Array<{ attribute: string; is: '=' | 'begins like'; text: string }>;
        notes: Array<string>;
        example: { read_units: number; write_units: number } | null;
        calls: number;
        read_units: number;
        write_units: number;
      }>;
    };
  };
  /** List items as they are stored, in key order. For: user, scope read. */
  'tables.items': {
    args: {
      table: string;
      limit?: number;
      cursor?: string;
      index?: string;
      partition?: string;
      sort?: string;
      order?: 'asc' | 'desc';
      entity?: string;
    };
    data: { data: Array<TableItem>; next_cursor: string | null; read: number; read_units: number };
  };
  /** List the tables and their consumed capacity. For: user, scope read. */
  'tables.list': {
    args: Record<never, never>;
    data: {
      data: Array<{
        name: string;
        description: string;
        keys: TableKeyNames;
        ttl: string | null;
        stream: string | null;
        status: string;
        items: number;
        bytes: number;
        entities: number;
        indexes: number;
        patterns: number;
        calls: number;
        read_units: number;
        write_units: number;
      }>;
      next_cursor: string | null;
      since: string;
    };
  };
  /** Update, delete or restore up to 100 tasks. For: user, scope write. */
  'tasks.bulk': {
    args: {
      body: {
        items: Array<
          | { op: 'update'; task_id: string; if_match?: string; set: TaskPatch }
          | { op: 'delete'; task_id: string; if_match?: string }
          | { op: 'restore'; task_id: string; if_match?: string }
        >;
      };
    };
    data: {
      results: Array<
        | { task_id: string; ok: true; task?: Task }
        | { task_id: string; ok: false; code: string; detail: string }
      >;
    };
  };
  /** List the changes since a token. For: user, scope read. */
  'tasks.changes': {
    args: { since?: string; limit?: number };
    data: { changed: Array<Task>; deleted: Array<DeletedTask>; token: string; has_more: boolean };
  };
  /** Move completed tasks to the trash. For: user, scope write. */
  'tasks.clearCompleted': {
    args: Record<never, never>;
    data: { deleted: Array<DeletedTask>; has_more: boolean };
  };
  /** Count tasks by status, priority and category. For: user, scope read. */
  'tasks.counts': { args: Record<never, never>; data: TaskCounts };
  /** Create a task. For: user, scope write. */
  'tasks.create': {
    args: {
      'stak-cause'?: string;
      'idempotency-key'?: string;
      body: {
        title: string;
        description?: string;
        status?: 'pending' | 'in_progress' | 'completed' | 'cancelled';
        priority?: 'low' | 'medium' | 'high' | 'urgent';
        category?: string;
        labels?: Array<string>;
        due_date?: string;
        parent_id?: string;
        recurrence?: string;
        reminder?: ReminderTime | ReminderBefore;
      };
    };
    data: Task;
  };
  /** Move a task and its subtasks to the trash for 30 days. For: user, scope write. */
  'tasks.delete': { args: { task_id: string }; data: undefined };
  /** Empty the trash. For: user, scope write. */
  'tasks.emptyTrash': { args: Record<never, never>; data: { has_more: boolean } };
  /** Stream changes. For: user, scope read. */
  'tasks.events': { args: Record<never, never>; event: unknown };
  /** Export all tasks as a file. For: user, scope read. */
  'tasks.export': { args: { format?: 'json' | 'csv' }; data: unknown };
  /** Get the tasks with a due date as a calendar. For: public. */
  'tasks.feed': { args: { file: string }; data: string };
  /** Get a task. For: user, scope read. */
  'tasks.get': { args: { task_id: string }; data: Task };
  /** List tasks. For: user, scope read. */
  'tasks.list': {
    args: {
      limit?: number;
      cursor?: string;
      filter?: string;
      sort?: 'created' | 'due_date' | 'priority' | 'category' | 'status' | 'position';
      order?: 'asc' | 'desc';
      view?: 'summary' | 'full';
    };
    data: TaskPage;
  };
  /** List the tasks of a tenant's user. For: account, scope read. */
  'tasks.listOfUser': {
    args: {
      tenant_id: string;
      user_id: string;
      limit?: number;
      cursor?: string;
      filter?: string;
      sort?: 'created' | 'due_date' | 'priority' | 'category' | 'status' | 'position';
      order?: 'asc' | 'desc';
      view?: 'summary' | 'full';
    };
    data: TaskPage;
  };
  /** List deleted tasks that can still be restored. For: user, scope read. */
  'tasks.listTrash': {
    args: { limit?: number; cursor?: string };
    data: {
      data: Array<{
        task_id: string;
        title: string;
        description?: string;
        status: 'pending' | 'in_progress' | 'completed' | 'cancelled';
        priority?: 'low' | 'medium' | 'high' | 'urgent';
        category?: string;
        labels?: Array<string>;
        due_date?: string;
        parent_id?: string;
        subtask_ids?: Array<string>;
        position?: string;
        recurrence?: string;
        series_id?: string;
        series_start?: string;
        reminder?: ReminderTime | ReminderBefore;
        remind_at?: number;
        created_at: number;
        updated_at: number;
        completed_at: number | null;
        restored_at?: number;
        version: number;
        ttl?: number;
        deleted_at: number;
      }>;
      next_cursor: string | null;
    };
  };
  /** Get the caller's profile. For: user, scope read. */
  'tasks.me': { args: Record<never, never>; data: TaskProfile };
  /** Move a task before or after another, or to the top or bottom. For: user, scope write. */
  'tasks.move': {
    args: { task_id: string; body: { before: string } | { after: string } | { to: 'top' | 'bottom' } };
    data: Task;
  };
  /** Delete a task permanently. For: user, scope write. */
  'tasks.purge': { args: { task_id: string }; data: undefined };
  /** Create a new secret address for the calendar. For: user, scope write. */
  'tasks.replaceFeed': { args: Record<never, never>; data: { address: string } };
  /** Restore a deleted task and the subtasks deleted with it. For: user, scope write. */
  'tasks.restore': { args: { task_id: string }; data: Task };
  /** Revoke the address of the calendar. For: user, scope write. */
  'tasks.revokeFeed': { args: Record<never, never>; data: undefined };
  /** Search titles, descriptions, categories and labels. For: user, scope read. */
  'tasks.search': {
    args: { limit?: number; cursor?: string; q: string };
    data: {
      data: Array<{
        task_id: string;
        title: string;
        description?: string;
        status: 'pending' | 'in_progress' | 'completed' | 'cancelled';
        priority?: 'low' | 'medium' | 'high' | 'urgent';
        category?: string;
        labels?: Array<string>;
        due_date?: string;
        parent_id?: string;
        subtask_ids?: Array<string>;
        position?: string;
        recurrence?: string;
        series_id?: string;
        series_start?: string;
        reminder?: ReminderTime | ReminderBefore;
        remind_at?: number;
        created_at: number;
        updated_at: number;
        completed_at: number | null;
        restored_at?: number;
        version: number;
        ttl?: number;
        score: number;
      }>;
      next_cursor: string | null;
    };
  };
  /** List the subtasks of a task, in order. For: user, scope read. */
  'tasks.subtasks': { args: { task_id: string }; data: { data: Array<Task> } };
  /** Update a task. For: user, scope write. */
  'tasks.update': { args: { task_id: string; body: TaskPatch }; data: Task };
  /** Update the caller's profile. For: user, scope write. */
  'tasks.updateMe': {
    args: {
      body: {
        email?: string | null;
        name?: string | null;
        time_zone?: string;
        retention_days?: number | null;
      };
    };
    data: TaskProfile;
  };
  /** Accept an invitation. For: public. */
  'tenants.acceptInvitation': { args: { body: AcceptedInvitation }; data: User };
  /** Claim a channel. For: user, scope write. */
  'tenants.claimChannel': {
    args: { tenant_id: string; body: { type: string; channel_id: string } };
    data: Channel;
  };
  /** Create a tenant. For: account, scope write. */
  'tenants.create': {
    args: { body: { tenant_id?: string; name: string; status?: 'onboarding' | 'active' } };
    data: Tenant;
  };
  /** Invite a user. For: user, scope write. */
  'tenants.createInvitation': {
    args: {
      tenant_id: string;
      body: { email: string; role?: 'admin' | 'member'; user_id?: string; mail?: boolean; ttl_days?: number };
    };
    data: {
      tenant_id: string;
      invitation_id: string;
      email: string;
      role: 'admin' | 'member';
      user_id: string;
      created_at: string;
      expires_at: string;
      token: string;
    };
  };
  /** Create a user. For: user, scope write. */
  'tenants.createUser': {
    args: {
      tenant_id: string;
      body: {
        user_id?: string;
        email?: string;
        display_name: string;
        role?: 'admin' | 'member';
        channel_identities?: { [name: string]: string };
        preferences?: { [name: string]: unknown };
        custom_properties?: { [name: string]: unknown };
      };
    };
    data: User;
  };
  /** Delete a tenant and everything in it. For: account, scope admin. */
  'tenants.delete': { args: { tenant_id: string }; data: Erasure };
  /** Remove the provider of the portal. For: user, scope write. */
  'tenants.deletePortalProvider': { args: { tenant_id: string }; data: undefined };
  /** Delete the schema of users' custom properties. For: account, scope admin. */
  'tenants.deletePropertiesSchema': { args: { tenant_id: string }; data: undefined };
  /** Remove a user. For: user, scope write. */
  'tenants.deleteUser': { args: { tenant_id: string; user_id: string }; data: undefined };
  /** Erase a user in every service. For: account, scope admin. */
  'tenants.eraseUser': { args: { tenant_id: string; user_id: string }; data: Erasure };
  /** Export all data of a user. For: account, scope read. */
  'tenants.exportUser': { args: { tenant_id: string; user_id: string }; data: Uint8Array };
  /** Receive the redirect of the provider of a tenant. For: public. */
  'tenants.finishPortalSignIn': {
    args: { tenant_id: string; state?: string; code?: string; error?: string };
    data: unknown;
  };
  /** Get a tenant. For: user, scope read. */
  'tenants.get': { args: { tenant_id: string }; data: Tenant };
  /** Get the progress of an erasure. For: account, scope read. */
  'tenants.getErasure': { args: { tenant_id: string; erasure_id: string }; data: Erasure };
  /** Get the appearance of a portal. For: public. */
  'tenants.getPortal': { args: { tenant_id: string }; data: Portal };
  /** Get the identity provider of the portal. For: user, scope read. */
  'tenants.getPortalProvider': { args: { tenant_id: string }; data: PortalProvider };
  /** Get the signed-in user and what they can do in the portal. For: endUser, scope read. */
  'tenants.getPortalUser': {
    args: { tenant_id: string };
    data: {
      portal: Portal;
      user_id: string;
      user: { display_name: string; email?: string; role: 'admin' | 'member'; version: number } | null;
      scope: string;
      inboxes: Array<{ inbox_key: string; title: string }>;
    };
  };
  /** Get the schema of users' custom properties. For: account, scope read. */
  'tenants.getPropertiesSchema': { args: { tenant_id: string }; data: { [name: string]: unknown } };
  /** Get the settings. For: user, scope read. */
  'tenants.getSettings': { args: { tenant_id: string }; data: TenantSettings };
  /** Get a user. For: user, scope read. */
  'tenants.getUser': { args: { tenant_id: string; user_id: string }; data: User };
  /** Accept an invitation and sign in. For: public. */
  'tenants.joinPortal': { args: { tenant_id: string; body: AcceptedInvitation }; data: PortalSession };
  /** List your tenants. For: account, scope read. */
  'tenants.list': {
    args: { limit?: number; cursor?: string };
    data: { data: Array<Tenant>; next_cursor: string | null };
  };
  /** List channels. For: user, scope read. */
  'tenants.listChannels': {
    args: { tenant_id: string; limit?: number; cursor?: string };
    data: { data: Array<Channel>; next_cursor: string | null };
  };
  /** List open invitations. For: user, scope read. */
  'tenants.listInvitations': {
    args: { tenant_id: string; limit?: number; cursor?: string };
    data: { data: Array<UserInvitation>; next_cursor: string | null };
  };
  /** List users, or find one. For: user, scope read. */
  'tenants.listUsers': {
    args: {
      tenant_id: string;
      limit?: number;
      cursor?: string;
      email?: string;
      channel?: string;
      identity?: string;
    };
    data: { data: Array<User>; next_cursor: string | null };
  };
  /** Mint a token for an end user. For: account, scope write. */
  'tenants.mintToken': {
    args: { tenant_id: string; body: { sub: string; scope?: string; ttl_seconds?: number } };
    data: UserToken;
  };
  /** Set the OpenID Connect provider of the portal. For: user, scope write. */
  'tenants.putPortalProvider': {
    args: {
      tenant_id: string;
      body: {
        issuer: string;
        client_id: string;
        client_secret?: string;
        domains: Array<string>;
        creates_users?: boolean;
        matches_addresses?: boolean;
      };
    };
    data: PortalProvider;
  };
  /** Define users' custom properties. For: account, scope admin. */
  'tenants.putPropertiesSchema': {
    args: { tenant_id: string; body: { [name: string]: unknown } };
    data: { [name: string]: unknown };
  };
  /** Refresh a portal session. For: public. */
  'tenants.refreshSession': { args: { tenant_id: string; body: Record<string, never> }; data: PortalSession };
  /** Release a channel. For: user, scope write. */
  'tenants.releaseChannel': {
    args: { tenant_id: string; type: string; channel_id: string };
    data: undefined;
  };
  /** Replace the settings. For: account, scope write. */
  'tenants.replaceSettings': {
    args: {
      tenant_id: string;
      body: {
        ai_provider?: string;
        ai_model?: string;
        system_prompt_override?: string;
        max_tokens_per_message?: number;
        enabled_channels?: Array<string>;
        enabled_skills?: Array<string>;
        custom_skills?: Array<string | { [name: string]: unknown }>;
        messages_per_day?: number;
        max_conversation_history?: number;
        portal_sign_in?: 'host' | 'mail';
        portal_frame_ancestors?: Array<string>;
        portal_name?: string;
        portal_logo?: string;
        portal_color?: string;
        portal_header_color?: string;
        [name: string]: unknown;
      };
    };
    data: TenantSettings;
    mustMatch: true;
  };
  /** Request a code to sign in to the portal. For: public. */
  'tenants.requestSignIn': {
    args: { tenant_id: string; body: { email: string } };
    data: { attempt: string; expires_at: string };
  };
  /** Revoke an invitation. For: user, scope write. */
  'tenants.revokeInvitation': { args: { tenant_id: string; invitation_id: string }; data: undefined };
  /** Revoke the tokens of a user, or of all users. For: account, scope write. */
  'tenants.revokeTokens': {
    args: { tenant_id: string; body: { sub?: string } };
    data: { revoked_until: string };
  };
  /** Sign in to the portal with a mailed code or link. For: public. */
  'tenants.signIn': {
    args: { tenant_id: string; body: { attempt: string; code: string } | { token: string } };
    data: PortalSession;
  };
  /** Sign out of the portal. For: public. */
  'tenants.signOut': { args: { tenant_id: string }; data: undefined };
  /** Sign in to the portal through the provider of the tenant. For: public. */
  'tenants.startPortalSignIn': { args: { tenant_id: string }; data: unknown };
  /** Test the provider of the portal. For: user, scope write. */
  'tenants.testPortalProvider': {
    args: { tenant_id: string };
    data: { is_working: boolean; detail: string };
  };
  /** Rename, activate or suspend a tenant. For: account, scope admin. */
  'tenants.update': {
    args: { tenant_id: string; body: { name?: string; status?: 'active' | 'suspended' } };
    data: Tenant;
  };
  /** Change your own name. For: endUser, scope write. */
  'tenants.updatePortalUser': {
    args: { tenant_id: string; body: { display_name: string } };
    data: { display_name: string; version: number };
  };
  /** Change some settings. For: user, scope write. */
  'tenants.updateSettings': {
    args: {
      tenant_id: string;
      body: {
        ai_provider?: string | null;
        ai_model?: string | null;
        system_prompt_override?: string | null;
        max_tokens_per_message?: number | null;
        enabled_channels?: Array<string> | null;
        enabled_skills?: Array<string> | null;
        custom_skills?: Array<string | { [name: string]: unknown }> | null;
        messages_per_day?: number | null;
        max_conversation_history?: number | null;
        portal_sign_in?: 'host' | 'mail' | null;
        portal_frame_ancestors?: Array<string> | null;
        portal_name?: string | null;
        portal_logo?: string | null;
        portal_color?: string | null;
        portal_header_color?: string | null;
        [name: string]: unknown;
      };
    };
    data: TenantSettings;
    mustMatch: true;
  };
  /** Update a user. For: user, scope write. */
  'tenants.updateUser': {
    args: {
      tenant_id: string;
      user_id: string;
      body: {
        email?: string | null;
        display_name?: string;
        role?: 'admin' | 'member';
        channel_identities?: { [name: string]: string | null };
        preferences?: { [name: string]: unknown };
        custom_properties?: { [name: string]: unknown };
      };
    };
    data: User;
    mustMatch: true;
  };
  /** Get events by day and status, the success rate, latencies and the busiest sources. For: account, scope read. */
  'webhooks.analytics': {
    args: { from?: string; to?: string; sourceId?: string };
    data: {
      days: Array<{
        day: string;
        received: number;
        statuses: EventStatusCounts;
        attempts: number;
        successes: number;
      }>;
      received: number;
      statuses: EventStatusCounts;
      attempts: number;
      successRate: number | null;
      latency: { p50: number | null; p95: number | null };
      topSources: Array<{ sourceId: string; received: number }>;
    };
  };
  /** Cancel the unfinished deliveries of an event. For: account, scope write. */
  'webhooks.cancelEvent': { args: { eventId: string; body: ChosenConnections }; data: DeliveryCount };
  /** Stop a job. For: account, scope write. */
  'webhooks.cancelJob': { args: { jobId: string }; data: Job };
  /** Connect a source to a destination. For: account, scope write. */
  'webhooks.createConnection': {
    args: {
      sourceId: string;
      body: {
        name: string;
        destinationUrl: string;
        filters?: Array<FilterRule | FilterAnd1 | FilterOr1 | FilterNot1>;
        transform?: Passthrough | FieldMap | Script;
        retryConfig?: RetryConfig;
        maxConcurrency?: number;
        ratePerSecond?: number;
        ordered?: boolean;
      };
    };
    data: ConnectionWithSecret;
  };
  /** Replay or cancel many events: by id, or all that match a filter. For: account, scope write. */
  'webhooks.createJob': {
    args: {
      sourceId: string;
      body: {
        action?: 'replay' | 'cancel';
        connectionIds?: Array<string>;
        eventIds?: Array<string>;
        status?:
          | 'received'
          | 'processing'
          | 'filtered'
          | 'delivered'
          | 'partial'
          | 'retrying'
          | 'failed'
          | 'rejected';
        from?: string;
        to?: string;
        q?: string;
        type?: string;
        connectionId?: string;
        where?: string;
        expected?: number;
      };
    };
    data: Job;
  };
  /** Create a source: an address that receives webhooks. For: account, scope write. */
  'webhooks.createSource': {
    args: {
      body: {
        name: string;
        provider?:
          | 'stripe'
          | 'github'
          | 'shopify'
          | 'slack'
          | 'twilio'
          | 'sendgrid'
          | 'standard-webhooks'
          | 'custom'
          | 'stak';
        signingSecret?: string;
        signingAlgorithm?: 'hmac-sha1' | 'hmac-sha256' | 'hmac-sha512' | HmacConfig;
        signatures?: 'off' | 'reject' | 'store';
        toleranceS?: number;
        verifyToken?: string;
        dedupeHeader?: string;
        whilePaused?: 'hold' | 'refuse';
        alertUrl?: string;
        auditTrail?: boolean;
      };
    };
    data: SourceWithSecret;
  };
  /** Delete a connection and cancel its unfinished deliveries. For: account, scope write. */
  'webhooks.deleteConnection': { args: { connectionId: string }; data: undefined };
  /** Delete a source. For: account, scope write. */
  'webhooks.deleteSource': { args: { sourceId: string }; data: undefined };
  /** Edit, pause or resume a connection. For: account, scope write. */
  'webhooks.editConnection': {
    args: {
      connectionId: string;
      body: {
        name?: string;
        destinationUrl?: string;
        filters?: Array<FilterRule | FilterAnd1 | FilterOr1 | FilterNot1>;
        transform?: Passthrough | FieldMap | Script;
        retryConfig?: RetryConfig;
        maxConcurrency?: number | null;
        ratePerSecond?: number | null;
        ordered?: boolean;
        status?: 'active' | 'paused';
      };
    };
    data: Connection;
  };
  /** Edit, pause or resume a source. For: account, scope write. */
  'webhooks.editSource': {
    args: {
      sourceId: string;
      body: {
        name?: string;
        status?: 'active' | 'paused';
        signatures?: 'off' | 'reject' | 'store';
        signingAlgorithm?: 'hmac-sha1' | 'hmac-sha256' | 'hmac-sha512' | HmacConfig;
        whilePaused?: 'hold' | 'refuse';
        auditTrail?: boolean;
        signingSecret?: string | null;
        verifyToken?: string | null;
        dedupeHeader?: string | null;
        alertUrl?: string | null;
        toleranceS?: number | null;
      };
    };
    data: SourceWithSecret;
  };
  /** List the alerts of the last 30 days. For: account, scope read. */
  'webhooks.listAlerts': {
    args: { limit?: number; cursor?: string };
    data: { data: Array<Alert>; next_cursor: string | null };
  };
  /** List the events of several sources together, newest first. For: account, scope read. */
  'webhooks.listAllEvents': {
    args: {
      limit?: number;
      cursor?: string;
      status?:
        | 'received'
        | 'processing'
        | 'filtered'
        | 'delivered'
        | 'partial'
        | 'retrying'
        | 'failed'
        | 'rejected';
      from?: string;
      to?: string;
      q?: string;
      type?: string;
      connectionId?: string;
      where?: string;
      sourceIds?: string;
    };
    data: EventPage;
  };
  /** List the connections of a source. For: account, scope read. */
  'webhooks.listConnections': {
    args: { sourceId: string };
    data: { data: Array<Connection>; next_cursor: string | null };
  };
  /** List the events of a source, newest first. For: account, scope read. */
  'webhooks.listEvents': {
    args: {
      sourceId: string;
      limit?: number;
      cursor?: string;
      status?:
        | 'received'
        | 'processing'
        | 'filtered'
        | 'delivered'
        | 'partial'
        | 'retrying'
        | 'failed'
        | 'rejected';
      from?: string;
      to?: string;
      q?: string;
      type?: string;
      connectionId?: string;
      where?: string;
    };
    data: EventPage;
  };
  /** List your replay and cancellation jobs. For: account, scope read. */
  'webhooks.listJobs': { args: Record<never, never>; data: { data: Array<Job>; next_cursor: string | null } };
  /** List your sources. For: account, scope read. */
  'webhooks.listSources': {
    args: Record<never, never>;
    data: { data: Array<Source>; next_cursor: string | null };
  };
  /** Get the body of an event, byte for byte. For: account, scope read. */
  'webhooks.readBody': { args: { eventId: string }; data: Uint8Array };
  /** Get a connection. For: account, scope read. */
  'webhooks.readConnection': { args: { connectionId: string }; data: Connection };
  /** Get an event with its deliveries and attempts. For: account, scope read. */
  'webhooks.readEvent': {
    args: { eventId: string };
    data: {
      eventId: string;
      sourceId: string;
      status:
        | 'received'
        | 'processing'
        | 'filtered'
        | 'delivered'
        | 'partial'
        | 'retrying'
        | 'failed'
        | 'rejected';
      method: string;
      query?: string;
      contentType?: string;
      eventType?: string;
      sourceIp?: string;
      size: number;
      dedupeId?: string;
      rejection?: string;
      receivedAt: number;
      processedAt?: number;
      deliveredAt?: number;
      attempts: Array<Attempt>;
      connections: number;
      expiresAt: number;
      headers: Array<[string, string]>;
      deliveries: Array<Delivery>;
    };
  };
  /** Get the progress of a job. For: account, scope read. */
  'webhooks.readJob': { args: { jobId: string }; data: Job };
  /** Get a source. For: account, scope read. */
  'webhooks.readSource': { args: { sourceId: string }; data: Source };
  /** Send a webhook. For: public. */
  'webhooks.receive': {
    args: { source_id: string; body: string | Uint8Array<ArrayBuffer> | Blob };
    data: EventReceipt;
  };
  /** Deliver an event again, to all connections or to some of them. For: account, scope write. */
  'webhooks.replayEvent': { args: { eventId: string; body: ChosenConnections }; data: DeliveryCount };
  /** Replace the secret that signs alerts. For: account, scope write. */
  'webhooks.rotateAlertSecret': { args: { sourceId: string }; data: SourceWithSecret };
  /** Replace the signing secret. For: account, scope write. */
  'webhooks.rotateSecret': { args: { connectionId: string }; data: ConnectionWithSecret };
  /** Send a test event to a source. For: account, scope write. */
  'webhooks.sendTestEvent': { args: { sourceId: string }; data: { eventId: string; status: string } };
  /** Follow the events of a source as they arrive. For: account, scope read. */
  'webhooks.tailEvents': { args: { sourceId: string; payload?: 'true' | 'false' }; event: unknown };
  /** Run a sample request through a connection and see the result of every step. For: account, scope write. */
  'webhooks.testConnection': {
    args: {
      connectionId: string;
      body: {
        method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
        headers?: Array<[string, string]>;
        query?: string;
        body?: string;
        isBase64?: boolean;
        eventId?: string;
        send?: boolean;
      };
    };
    data: {
      filter: FilterResult;
      transform?: TransformResult;
      request?: { url: string; method: string; headers: Array<[string, string]>; body: string };
      response?: { statusCode: number; latencyMs: number; responseBody?: string; error?: string };
    };
  };
  /** Run a request through rules before they are saved. For: account, scope write. */
  'webhooks.tryRules': {
    args: {
      sourceId: string;
      body: {
        method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
        headers?: Array<[string, string]>;
        query?: string;
        body?: string;
        isBase64?: boolean;
        eventId?: string;
        filters?: Array<FilterRule | FilterAnd1 | FilterOr1 | FilterNot1>;
        transform?: Passthrough | FieldMap | Script;
      };
    };
    data: { filter: FilterResult; transform?: TransformResult; body?: string };
  };
  /** Run the stored events of a source through other rules. For: account, scope write. */
  'webhooks.whatIf': {
    args: {
      sourceId: string;
      body: {
        filters?: Array<FilterRule | FilterAnd1 | FilterOr1 | FilterNot1>;
        transform?: Passthrough | FieldMap | Script;
        connectionId?: string;
        from?: string;
        to?: string;
        limit?: number;
        cursor?: string;
      };
    };
    data: {
      events: number;
      before: RulesOutcomeCounts;
      after: RulesOutcomeCounts;
      data: Array<RulesDifference>;
      next_cursor: string | null;
    };
  };
};

export const operations = {
  'accounts.acceptInvitation': { method: 'POST', path: '/v1/auth/invitation/accept', body: 'json' },
  'accounts.addPasskey': { method: 'POST', path: '/v1/me/passkeys', body: 'json' },
  'accounts.authorizeApp': { method: 'GET', path: '/v1/oauth/authorize', isPublic: true },
  'accounts.beginAuthenticator': { method: 'POST', path: '/v1/me/authenticator', body: 'json' },
  'accounts.beginPasskey': { method: 'POST', path: '/v1/me/passkeys/registration', body: 'json' },
  'accounts.beginPasskeySignIn': { method: 'POST', path: '/v1/auth/passkey', isPublic: true },
  'accounts.beginPasskeyStepUp': { method: 'POST', path: '/v1/auth/step-up/passkey' },
  'accounts.changeEmail': { method: 'POST', path: '/v1/me/email', body: 'json' },
  'accounts.changeMemberRole': { method: 'PATCH', path: '/v1/members/{userId}', body: 'json' },
  'accounts.changeOrganisationProvider': { method: 'PUT', path: '/v1/organisation/provider', body: 'json' },
  'accounts.changePassword': { method: 'POST', path: '/v1/me/password', body: 'json' },
  'accounts.confirmAuthenticator': { method: 'POST', path: '/v1/me/authenticator/confirm', body: 'json' },
  'accounts.confirmEmail': { method: 'POST', path: '/v1/me/email/confirm', body: 'json' },
  'accounts.createKey': { method: 'POST', path: '/v1/api-keys', body: 'json' },
  'accounts.createOrganisation': { method: 'POST', path: '/v1/organisations', body: 'json', isKeyed: true },
  'accounts.decideAppRequest': { method: 'POST', path: '/v1/apps/requests/decide', body: 'json' },
  'accounts.deleteKey': { method: 'DELETE', path: '/v1/api-keys/{keyId}' },
  'accounts.deleteMe': { method: 'POST', path: '/v1/me/deletion', body: 'json' },
  'accounts.download': { method: 'POST', path: '/v1/me/download', body: 'json' },
  'accounts.endApp': { method: 'DELETE', path: '/v1/apps/{userId}/{sessionId}' },
  'accounts.endSession': { method: 'DELETE', path: '/v1/sessions/{sessionId}' },
  'accounts.endSessions': { method: 'DELETE', path: '/v1/sessions' },
  'accounts.exportAudit': { method: 'GET', path: '/v1/audit/export' },
  'accounts.finishOrganisationSignIn': {
    method: 'GET',
    path: '/v1/auth/organisations/{accountId}/callback',
    isPublic: true,
  },
  'accounts.finishPasswordReset': {
    method: 'POST',
    path: '/v1/auth/password-reset/finish',
    body: 'json',
    isPublic: true,
  },
  'accounts.finishProviderSignIn': { method: 'GET', path: '/v1/auth/{provider}/callback', isPublic: true },
  'accounts.finishSignUp': { method: 'POST', path: '/v1/auth/signup/finish', body: 'json', isPublic: true },
  'accounts.getMe': { method: 'GET', path: '/v1/me' },
  'accounts.getUsage': { method: 'GET', path: '/v1/usage' },
  'accounts.grantAppTokens': { method: 'POST', path: '/v1/oauth/token', body: 'raw', isPublic: true },
  'accounts.invite': { method: 'POST', path: '/v1/invitations', body: 'json', isKeyed: true },
  'accounts.jwks': { method: 'GET', path: '/.well-known/jwks.json', isPublic: true },
  'accounts.leaveOrganisation': { method: 'POST', path: '/v1/organisations/{accountId}/leave' },
  'accounts.linkOrganisationProvider': {
    method: 'POST',
    path: '/v1/auth/organisations/{accountId}/link',
    body: 'json',
  },
  'accounts.linkProvider': { method: 'POST', path: '/v1/auth/{provider}/link', body: 'json' },
  'accounts.listApps': { method: 'GET', path: '/v1/apps' },
  'accounts.listAudit': { method: 'GET', path: '/v1/audit' },
  'accounts.listInvitations': { method: 'GET', path: '/v1/invitations' },
  'accounts.listKeys': { method: 'GET', path: '/v1/api-keys' },
  'accounts.listMembers': { method: 'GET', path: '/v1/members' },
  'accounts.listOrganisations': { method: 'GET', path: '/v1/organisations' },
  'accounts.listPasskeys': { method: 'GET', path: '/v1/me/passkeys' },
  'accounts.listPlans': { method: 'GET', path: '/v1/plans', isPublic: true },
  'accounts.listProviders': { method: 'GET', path: '/v1/auth/providers', isPublic: true },
  'accounts.listSaved': { method: 'GET', path: '/v1/saved/{kind}' },
  'accounts.listSessions': { method: 'GET', path: '/v1/sessions' },
  'accounts.logIn': { method: 'POST', path: '/v1/auth/login', body: 'json', isPublic: true },
  'accounts.logOut': { method: 'POST', path: '/v1/auth/logout' },
  'accounts.mintInboxToken': { method: 'POST', path: '/v1/me/inbox-token' },
  'accounts.openBillingPortal': { method: 'POST', path: '/v1/billing/portal', body: 'json' },
  'accounts.readAppRequest': { method: 'POST', path: '/v1/apps/requests/read', body: 'json' },
  'accounts.readAuthorizationServer': {
    method: 'GET',
    path: '/.well-known/oauth-authorization-server',
    isPublic: true,
  },
  'accounts.readBilling': { method: 'GET', path: '/v1/billing' },
  'accounts.readInvitation': { method: 'POST', path: '/v1/auth/invitation', body: 'json', isPublic: true },
  'accounts.readOrganisation': { method: 'GET', path: '/v1/organisation' },
  'accounts.readOrganisationProvider': { method: 'GET', path: '/v1/organisation/provider' },
  'accounts.readOrganisationSignIn': {
    method: 'GET',
    path: '/v1/auth/organisations/{accountId}',
    isPublic: true,
  },
  'accounts.readProtectedResource': {
    method: 'GET',
    path: '/.well-known/oauth-protected-resource/mcp',
    isPublic: true,
  },
  'accounts.refresh': { method: 'POST', path: '/v1/auth/refresh', body: 'json', isPublic: true },
  'accounts.registerApp': { method: 'POST', path: '/v1/oauth/register', body: 'raw', isPublic: true },
  'accounts.removeAuthenticator': { method: 'POST', path: '/v1/me/authenticator/removal', body: 'json' },
  'accounts.removeMember': { method: 'DELETE', path: '/v1/members/{userId}' },
  'accounts.removeOrganisationProvider': { method: 'DELETE', path: '/v1/organisation/provider' },
  'accounts.removePasskey': { method: 'POST', path: '/v1/me/passkeys/{passkeyId}/removal', body: 'json' },
  'accounts.removeSaved': { method: 'DELETE', path: '/v1/saved/{kind}/{name}' },
  'accounts.renameOrganisation': { method: 'PATCH', path: '/v1/organisation', body: 'json' },
  'accounts.renamePasskey': { method: 'PATCH', path: '/v1/me/passkeys/{passkeyId}', body: 'json' },
  'accounts.renewRecoveryCodes': { method: 'POST', path: '/v1/me/recovery-codes' },
  'accounts.requestPasswordReset': {
    method: 'POST',
    path: '/v1/auth/password-reset',
    body: 'json',
    isPublic: true,
  },
  'accounts.requestSignUp': { method: 'POST', path: '/v1/auth/signup/request', body: 'json', isPublic: true },
  'accounts.resendInvitation': { method: 'POST', path: '/v1/invitations/{invitationId}/resend' },
  'accounts.revokeAppToken': { method: 'POST', path: '/v1/oauth/revoke', body: 'raw', isPublic: true },
  'accounts.save': { method: 'PUT', path: '/v1/saved/{kind}/{name}', body: 'json' },
  'accounts.sendVerification': { method: 'POST', path: '/v1/me/verification' },
  'accounts.showUnsubscribe': { method: 'GET', path: '/v1/mail/unsubscribe', isPublic: true },
  'accounts.signInWithPasskey': {
    method: 'POST',
    path: '/v1/auth/passkey/finish',
    body: 'json',
    isPublic: true,
  },
  'accounts.signUp': { method: 'POST', path: '/v1/auth/signup', body: 'json', isPublic: true },
  'accounts.startCheckout': { method: 'POST', path: '/v1/billing/checkout', body: 'json', isKeyed: true },
  'accounts.startOrganisationSignIn': {
    method: 'GET',
    path: '/v1/auth/organisations/{accountId}/start',
    isPublic: true,
  },
  'accounts.startProviderSignIn': { method: 'GET', path: '/v1/auth/{provider}/start', isPublic: true },
  'accounts.stepUp': { method: 'POST', path: '/v1/auth/step-up', body: 'json' },
  'accounts.switchOrganisation': { method: 'POST', path: '/v1/auth/switch', body: 'json' },
  'accounts.takeStripeEvent': { method: 'POST', path: '/v1/billing/webhook', body: 'raw', isPublic: true },
  'accounts.testOrganisationProvider': { method: 'POST', path: '/v1/organisation/provider/test' },
  'accounts.transferOwnership': { method: 'POST', path: '/v1/members/{userId}/ownership', body: 'json' },
  'accounts.unlinkOrganisationProvider': {
    method: 'DELETE',
    path: '/v1/auth/organisations/{accountId}/link',
  },
  'accounts.unlinkProvider': { method: 'DELETE', path: '/v1/auth/{provider}/link' },
  'accounts.unsubscribe': { method: 'POST', path: '/v1/mail/unsubscribe', body: 'raw', isPublic: true },
  'accounts.updateMe': { method: 'PATCH', path: '/v1/me', body: 'json' },
  'accounts.verifyEmail': { method: 'POST', path: '/v1/me/verification/finish', body: 'json' },
  'accounts.whoAmI': { method: 'GET', path: '/v1/whoami' },
  'accounts.withdrawInvitation': { method: 'DELETE', path: '/v1/invitations/{invitationId}' },
  'agents.acceptMcpTools': {
    method: 'POST',
    path: '/v1/tenants/{tenant_id}/mcp-servers/{name}/accept',
    body: 'json',
  },
  'agents.callA2a': { method: 'POST', path: '/v1/tenants/{tenant_id}/a2a', body: 'json' },
  'agents.cancelAnswer': {
    method: 'POST',
    path: '/v1/tenants/{tenant_id}/conversations/{conversation_id}/cancel',
  },
  'agents.cancelResponse': {
    method: 'POST',
    path: '/v1/tenants/{tenant_id}/openai/v1/responses/{response_id}/cancel',
  },
  'agents.changeMemorySettings': {
    method: 'PATCH',
    path: '/v1/tenants/{tenant_id}/users/{user_id}/memory-settings',
    body: 'json',
  },
  'agents.clearConversation': {
    method: 'DELETE',
    path: '/v1/tenants/{tenant_id}/conversations/{conversation_id}/messages',
  },
  'agents.createChatCompletion': {
    method: 'POST',
    path: '/v1/tenants/{tenant_id}/openai/v1/chat/completions',
    body: 'json',
    headers: ['idempotency-key'],
  },
  'agents.createConversation': {
    method: 'POST',
    path: '/v1/tenants/{tenant_id}/conversations',
    body: 'json',
    isKeyed: true,
  },
  'agents.createResponse': {
    method: 'POST',
    path: '/v1/tenants/{tenant_id}/openai/v1/responses',
    body: 'json',
    headers: ['idempotency-key'],
  },
  'agents.decideApproval': {
    method: 'POST',
    path: '/v1/tenants/{tenant_id}/conversations/{conversation_id}/approvals/{approval_id}',
    body: 'json',
  },
  'agents.deleteAgent': { method: 'DELETE', path: '/v1/tenants/{tenant_id}/agents/{name}' },
  'agents.deleteChannelCredentials': {
    method: 'DELETE',
    path: '/v1/tenants/{tenant_id}/channels/{type}/{channel_id}/credentials',
  },
  'agents.deleteConversation': {
    method: 'DELETE',
    path: '/v1/tenants/{tenant_id}/conversations/{conversation_id}',
  },
  'agents.deleteCustomSkill': { method: 'DELETE', path: '/v1/tenants/{tenant_id}/custom-skills/{name}' },
  'agents.deleteMcpServer': { method: 'DELETE', path: '/v1/tenants/{tenant_id}/mcp-servers/{name}' },
  'agents.deleteMemory': {
    method: 'DELETE',
    path: '/v1/tenants/{tenant_id}/users/{user_id}/memory/{session_id}',
  },
  'agents.editMemory': {
    method: 'PATCH',
    path: '/v1/tenants/{tenant_id}/users/{user_id}/memory/{session_id}',
    body: 'json',
  },
  'agents.exportConversation': {
    method: 'GET',
    path: '/v1/tenants/{tenant_id}/conversations/{conversation_id}/export',
  },
  'agents.getAgent': { method: 'GET', path: '/v1/tenants/{tenant_id}/agents/{name}' },
  'agents.getAgentCard': { method: 'GET', path: '/v1/tenants/{tenant_id}/a2a/.well-known/agent-card.json' },
  'agents.getAgentDifferences': { method: 'GET', path: '/v1/tenants/{tenant_id}/agents/{name}/differences' },
  'agents.getAgentVersion': {
    method: 'GET',
    path: '/v1/tenants/{tenant_id}/agents/{name}/versions/{version}',
  },
  'agents.getApproval': {
    method: 'GET',
    path: '/v1/tenants/{tenant_id}/conversations/{conversation_id}/approvals/{approval_id}',
  },
  'agents.getConversation': {
    method: 'GET',
    path: '/v1/tenants/{tenant_id}/conversations/{conversation_id}',
  },
  'agents.getCustomSkill': { method: 'GET', path: '/v1/tenants/{tenant_id}/custom-skills/{name}' },
  'agents.getMcpServer': { method: 'GET', path: '/v1/tenants/{tenant_id}/mcp-servers/{name}' },
  'agents.getMemorySettings': {
    method: 'GET',
    path: '/v1/tenants/{tenant_id}/users/{user_id}/memory-settings',
  },
  'agents.getOpenAiModel': { method: 'GET', path: '/v1/tenants/{tenant_id}/openai/v1/models/{model}' },
  'agents.getReply': {
    method: 'GET',
    path: '/v1/tenants/{tenant_id}/conversations/{conversation_id}/messages/{message_id}',
  },
  'agents.getResponse': { method: 'GET', path: '/v1/tenants/{tenant_id}/openai/v1/responses/{response_id}' },
  'agents.getTenantUsage': { method: 'GET', path: '/v1/tenants/{tenant_id}/usage' },
  'agents.getUsage': { method: 'GET', path: '/v1/tenants/{tenant_id}/agent-usage' },
  'agents.importConversation': {
    method: 'POST',
    path: '/v1/tenants/{tenant_id}/conversation-imports',
    body: 'json',
    isKeyed: true,
  },
  'agents.listAgentVersions': { method: 'GET', path: '/v1/tenants/{tenant_id}/agents/{name}/versions' },
  'agents.listAgents': { method: 'GET', path: '/v1/tenants/{tenant_id}/agents' },
  'agents.listApprovals': { method: 'GET', path: '/v1/tenants/{tenant_id}/approvals' },
  'agents.listChannelCredentials': { method: 'GET', path: '/v1/tenants/{tenant_id}/channel-credentials' },
  'agents.listConversationApprovals': {
    method: 'GET',
    path: '/v1/tenants/{tenant_id}/conversations/{conversation_id}/approvals',
  },
  'agents.listConversations': { method: 'GET', path: '/v1/tenants/{tenant_id}/conversations' },
  'agents.listCustomSkills': { method: 'GET', path: '/v1/tenants/{tenant_id}/custom-skills' },
  'agents.listMcpServers': { method: 'GET', path: '/v1/tenants/{tenant_id}/mcp-servers' },
  'agents.listMemory': { method: 'GET', path: '/v1/tenants/{tenant_id}/users/{user_id}/memory' },
  'agents.listMessages': {
    method: 'GET',
    path: '/v1/tenants/{tenant_id}/conversations/{conversation_id}/messages',
  },
  'agents.listModels': { method: 'GET', path: '/v1/models' },
  'agents.listOpenAiModels': { method: 'GET', path: '/v1/tenants/{tenant_id}/openai/v1/models' },
  'agents.listSkills': { method: 'GET', path: '/v1/tenants/{tenant_id}/skills' },
  'agents.publishAgent': {
    method: 'POST',
    path: '/v1/tenants/{tenant_id}/agents/{name}/publish',
    body: 'json',
  },
  'agents.putChannelCredentials': {
    method: 'PUT',
    path: '/v1/tenants/{tenant_id}/channels/{type}/{channel_id}/credentials',
    body: 'json',
  },
  'agents.putCustomSkill': {
    method: 'PUT',
    path: '/v1/tenants/{tenant_id}/custom-skills/{name}',
    body: 'json',
    headers: ['if-none-match'],
  },
  'agents.putMcpServer': { method: 'PUT', path: '/v1/tenants/{tenant_id}/mcp-servers/{name}', body: 'json' },
  'agents.rateAnswer': {
    method: 'PUT',
    path: '/v1/tenants/{tenant_id}/conversations/{conversation_id}/turns/{seq}/feedback',
    body: 'json',
  },
  'agents.refreshMcpServer': { method: 'POST', path: '/v1/tenants/{tenant_id}/mcp-servers/{name}/refresh' },
  'agents.renameConversation': {
    method: 'PATCH',
    path: '/v1/tenants/{tenant_id}/conversations/{conversation_id}',
    body: 'json',
  },
  'agents.resumeUiChat': {
    method: 'GET',
    path: '/v1/tenants/{tenant_id}/conversations/{conversation_id}/ui/{chat_id}/stream',
    isStream: true,
  },
  'agents.resumeUiStream': {
    method: 'GET',
    path: '/v1/tenants/{tenant_id}/conversations/{conversation_id}/stream',
    isStream: true,
  },
  'agents.saveAgent': {
    method: 'PUT',
    path: '/v1/tenants/{tenant_id}/agents/{name}',
    body: 'json',
    headers: ['if-none-match'],
  },
  'agents.sendMessage': {
    method: 'POST',
    path: '/v1/tenants/{tenant_id}/conversations/{conversation_id}/messages',
    body: 'json',
    headers: ['stak-cause', 'idempotency-key'],
  },
  'agents.sendUiMessage': {
    method: 'POST',
    path: '/v1/tenants/{tenant_id}/conversations/{conversation_id}/ui',
    body: 'json',
    isStream: true,
  },
  'agents.takeWebhook': {
    method: 'POST',
    path: '/v1/channels/{type}/{id}/webhook',
    body: 'raw',
    isPublic: true,
  },
  'agents.testCustomSkill': {
    method: 'POST',
    path: '/v1/tenants/{tenant_id}/custom-skills/{name}/test',
    body: 'json',
  },
  'agents.testModel': { method: 'POST', path: '/v1/models/test', body: 'json' },
  'agents.verifyWebhook': { method: 'GET', path: '/v1/channels/{type}/{id}/webhook', isPublic: true },
  'inbox.archive': {
    method: 'PUT',
    path: '/v1/tenants/{tenant_id}/inboxes/{inbox_key}/users/{uid}/messages/{id}/archive',
  },
  'inbox.archiveMany': {
    method: 'POST',
    path: '/v1/tenants/{tenant_id}/inboxes/{inbox_key}/users/{uid}/archive',
    body: 'json',
  },
  'inbox.broadcast': {
    method: 'POST',
    path: '/v1/tenants/{tenant_id}/inboxes/{inbox_key}/broadcasts',
    body: 'json',
    headers: ['stak-cause'],
    isKeyed: true,
  },
  'inbox.bulk': {
    method: 'POST',
    path: '/v1/tenants/{tenant_id}/inboxes/{inbox_key}/bulk',
    body: 'json',
    isKeyed: true,
  },
  'inbox.cancel': { method: 'DELETE', path: '/v1/tenants/{tenant_id}/inboxes/{inbox_key}/scheduled/{id}' },
  'inbox.counts': { method: 'GET', path: '/v1/tenants/{tenant_id}/inboxes/{inbox_key}/users/{uid}/counts' },
  'inbox.deleteCategory': {
    method: 'DELETE',
    path: '/v1/tenants/{tenant_id}/inboxes/{inbox_key}/categories/{category}',
  },
  'inbox.deleteInbox': { method: 'DELETE', path: '/v1/tenants/{tenant_id}/inboxes/{inbox_key}' },
  'inbox.exportReceipts': {
    method: 'GET',
    path: '/v1/tenants/{tenant_id}/inboxes/{inbox_key}/sends/{id}/receipts/export',
  },
  'inbox.feed': { method: 'GET', path: '/v1/tenants/{tenant_id}/inboxes/{inbox_key}/users/{uid}/messages' },
  'inbox.join': { method: 'PUT', path: '/v1/tenants/{tenant_id}/inboxes/{inbox_key}/users/{uid}' },
  'inbox.listCategories': { method: 'GET', path: '/v1/tenants/{tenant_id}/inboxes/{inbox_key}/categories' },
  'inbox.listInboxes': { method: 'GET', path: '/v1/tenants/{tenant_id}/inboxes' },
  'inbox.listReceipts': {
    method: 'GET',
    path: '/v1/tenants/{tenant_id}/inboxes/{inbox_key}/sends/{id}/receipts',
  },
  'inbox.listScheduled': { method: 'GET', path: '/v1/tenants/{tenant_id}/inboxes/{inbox_key}/scheduled' },
  'inbox.listSends': { method: 'GET', path: '/v1/tenants/{tenant_id}/inboxes/{inbox_key}/sends' },
  'inbox.markRead': {
    method: 'PUT',
    path: '/v1/tenants/{tenant_id}/inboxes/{inbox_key}/users/{uid}/messages/{id}/read',
  },
  'inbox.markUnread': {
    method: 'DELETE',
    path: '/v1/tenants/{tenant_id}/inboxes/{inbox_key}/users/{uid}/messages/{id}/read',
  },
  'inbox.publicCounts': { method: 'GET', path: '/v1/tenants/{tenant_id}/inboxes/{inbox_key}/public-counts' },
  'inbox.publish': {
    method: 'POST',
    path: '/v1/tenants/{tenant_id}/inboxes/{inbox_key}/messages',
    body: 'json',
    headers: ['stak-cause'],
    isKeyed: true,
  },
  'inbox.readCategoryErasure': {
    method: 'GET',
    path: '/v1/tenants/{tenant_id}/inboxes/{inbox_key}/categories/{category}/erasure',
  },
  'inbox.readErasure': { method: 'GET', path: '/v1/tenants/{tenant_id}/inboxes/{inbox_key}/erasure' },
  'inbox.readInbox': { method: 'GET', path: '/v1/tenants/{tenant_id}/inboxes/{inbox_key}' },
  'inbox.readMany': {
    method: 'POST',
    path: '/v1/tenants/{tenant_id}/inboxes/{inbox_key}/users/{uid}/read',
    body: 'json',
  },
  'inbox.readMessage': {
    method: 'GET',
    path: '/v1/tenants/{tenant_id}/inboxes/{inbox_key}/users/{uid}/messages/{id}',
  },
  'inbox.readSend': { method: 'GET', path: '/v1/tenants/{tenant_id}/inboxes/{inbox_key}/sends/{id}' },
  'inbox.readSettings': { method: 'GET', path: '/v1/tenants/{tenant_id}/inbox-settings' },
  'inbox.redact': { method: 'DELETE', path: '/v1/tenants/{tenant_id}/inboxes/{inbox_key}/messages/{id}' },
  'inbox.redactHostId': {
    method: 'DELETE',
    path: '/v1/tenants/{tenant_id}/inboxes/{inbox_key}/host-messages/{host_system_id}',
  },
  'inbox.seeMany': {
    method: 'POST',
    path: '/v1/tenants/{tenant_id}/inboxes/{inbox_key}/users/{uid}/seen',
    body: 'json',
  },
  'inbox.snooze': {
    method: 'PUT',
    path: '/v1/tenants/{tenant_id}/inboxes/{inbox_key}/users/{uid}/messages/{id}/snooze',
    body: 'json',
  },
  'inbox.stream': {
    method: 'GET',
    path: '/v1/tenants/{tenant_id}/inboxes/{inbox_key}/users/{uid}/stream',
    isStream: true,
  },
  'inbox.unarchive': {
    method: 'DELETE',
    path: '/v1/tenants/{tenant_id}/inboxes/{inbox_key}/users/{uid}/messages/{id}/archive',
  },
  'inbox.unreadMany': {
    method: 'POST',
    path: '/v1/tenants/{tenant_id}/inboxes/{inbox_key}/users/{uid}/unread',
    body: 'json',
  },
  'inbox.unsnooze': {
    method: 'DELETE',
    path: '/v1/tenants/{tenant_id}/inboxes/{inbox_key}/users/{uid}/messages/{id}/snooze',
  },
  'inbox.writeInbox': { method: 'PUT', path: '/v1/tenants/{tenant_id}/inboxes/{inbox_key}', body: 'json' },
  'inbox.writeSettings': { method: 'PUT', path: '/v1/tenants/{tenant_id}/inbox-settings', body: 'json' },
  'insights.list': { method: 'GET', path: '/v1/insights' },
  'insights.read': { method: 'GET', path: '/v1/insights/{name}' },
  'lake.export': { method: 'POST', path: '/v1/lake/query/export', body: 'json' },
  'lake.history': { method: 'GET', path: '/v1/lake/history/{table}/{id}' },
  'lake.icebergConfig': { method: 'GET', path: '/v1/lake/iceberg/v1/config' },
  'lake.icebergFile': {
    method: 'GET',
    path: '/v1/lake/iceberg/files/{bucket}/{table}/{kind}/{file}',
    isPublic: true,
  },
  'lake.icebergNamespace': { method: 'GET', path: '/v1/lake/iceberg/v1/namespaces/{namespace}' },
  'lake.icebergNamespaces': { method: 'GET', path: '/v1/lake/iceberg/v1/namespaces' },
  'lake.icebergTable': { method: 'GET', path: '/v1/lake/iceberg/v1/namespaces/{namespace}/tables/{table}' },
  'lake.icebergTables': { method: 'GET', path: '/v1/lake/iceberg/v1/namespaces/{namespace}/tables' },
  'lake.operatorIcebergConfig': { method: 'GET', path: '/v1/lake/iceberg/operator/v1/config' },
  'lake.operatorIcebergNamespace': {
    method: 'GET',
    path: '/v1/lake/iceberg/operator/v1/namespaces/{namespace}',
  },
  'lake.operatorIcebergNamespaces': { method: 'GET', path: '/v1/lake/iceberg/operator/v1/namespaces' },
  'lake.operatorIcebergTable': {
    method: 'GET',
    path: '/v1/lake/iceberg/operator/v1/namespaces/{namespace}/tables/{table}',
  },
  'lake.operatorIcebergTables': {
    method: 'GET',
    path: '/v1/lake/iceberg/operator/v1/namespaces/{namespace}/tables',
  },
  'lake.query': { method: 'POST', path: '/v1/lake/query', body: 'json' },
  'lake.readTexts': { method: 'GET', path: '/v1/lake/texts' },
  'lake.setTexts': { method: 'PUT', path: '/v1/lake/texts', body: 'json' },
  'lake.status': { method: 'GET', path: '/v1/lake/status' },
  'system.permissions': { method: 'GET', path: '/v1/permissions' },
  'system.status': { method: 'GET', path: '/v1/system/status' },
  'system.why': { method: 'GET', path: '/v1/why/{id}' },
  'tables.changes': { method: 'GET', path: '/v1/tables/{table}/changes', isStream: true },
  'tables.get': { method: 'GET', path: '/v1/tables/{table}' },
  'tables.items': { method: 'GET', path: '/v1/tables/{table}/items' },
  'tables.list': { method: 'GET', path: '/v1/tables' },
  'tasks.bulk': { method: 'POST', path: '/v1/tasks/bulk', body: 'json', isKeyed: true },
  'tasks.changes': { method: 'GET', path: '/v1/tasks/changes' },
  'tasks.clearCompleted': { method: 'POST', path: '/v1/tasks/completed/clear' },
  'tasks.counts': { method: 'GET', path: '/v1/tasks/counts' },
  'tasks.create': {
    method: 'POST',
    path: '/v1/tasks',
    body: 'json',
    headers: ['stak-cause', 'idempotency-key'],
  },
  'tasks.delete': { method: 'DELETE', path: '/v1/tasks/{task_id}' },
  'tasks.emptyTrash': { method: 'DELETE', path: '/v1/tasks/trash' },
  'tasks.events': { method: 'GET', path: '/v1/tasks/events', isStream: true },
  'tasks.export': { method: 'GET', path: '/v1/tasks/export' },
  'tasks.feed': { method: 'GET', path: '/v1/tasks/feeds/{file}', isPublic: true },
  'tasks.get': { method: 'GET', path: '/v1/tasks/{task_id}' },
  'tasks.list': { method: 'GET', path: '/v1/tasks' },
  'tasks.listOfUser': { method: 'GET', path: '/v1/tenants/{tenant_id}/users/{user_id}/tasks' },
  'tasks.listTrash': { method: 'GET', path: '/v1/tasks/trash' },
  'tasks.me': { method: 'GET', path: '/v1/tasks/me' },
  'tasks.move': { method: 'PUT', path: '/v1/tasks/{task_id}/position', body: 'json' },
  'tasks.purge': { method: 'DELETE', path: '/v1/tasks/trash/{task_id}' },
  'tasks.replaceFeed': { method: 'PUT', path: '/v1/tasks/feed' },
  'tasks.restore': { method: 'POST', path: '/v1/tasks/trash/{task_id}/restore' },
  'tasks.revokeFeed': { method: 'DELETE', path: '/v1/tasks/feed' },
  'tasks.search': { method: 'GET', path: '/v1/tasks/search' },
  'tasks.subtasks': { method: 'GET', path: '/v1/tasks/{task_id}/subtasks' },
  'tasks.update': { method: 'PATCH', path: '/v1/tasks/{task_id}', body: 'json' },
  'tasks.updateMe': { method: 'PATCH', path: '/v1/tasks/me', body: 'json' },
  'tenants.acceptInvitation': {
    method: 'POST',
    path: '/v1/invitations/accept',
    body: 'json',
    isPublic: true,
  },
  'tenants.claimChannel': {
    method: 'POST',
    path: '/v1/tenants/{tenant_id}/channels',
    body: 'json',
    isKeyed: true,
  },
  'tenants.create': { method: 'POST', path: '/v1/tenants', body: 'json', isKeyed: true },
  'tenants.createInvitation': { method: 'POST', path: '/v1/tenants/{tenant_id}/invitations', body: 'json' },
  'tenants.createUser': {
    method: 'POST',
    path: '/v1/tenants/{tenant_id}/users',
    body: 'json',
    isKeyed: true,
  },
  'tenants.delete': { method: 'DELETE', path: '/v1/tenants/{tenant_id}' },
  'tenants.deletePortalProvider': { method: 'DELETE', path: '/v1/tenants/{tenant_id}/portal-provider' },
  'tenants.deletePropertiesSchema': { method: 'DELETE', path: '/v1/tenants/{tenant_id}/properties-schema' },
  'tenants.deleteUser': { method: 'DELETE', path: '/v1/tenants/{tenant_id}/users/{user_id}' },
  'tenants.eraseUser': {
    method: 'POST',
    path: '/v1/tenants/{tenant_id}/users/{user_id}/erasure',
    isKeyed: true,
  },
  'tenants.exportUser': { method: 'GET', path: '/v1/tenants/{tenant_id}/users/{user_id}/export' },
  'tenants.finishPortalSignIn': {
    method: 'GET',
    path: '/v1/portal/{tenant_id}/provider/callback',
    isPublic: true,
  },
  'tenants.get': { method: 'GET', path: '/v1/tenants/{tenant_id}' },
  'tenants.getErasure': { method: 'GET', path: '/v1/tenants/{tenant_id}/erasures/{erasure_id}' },
  'tenants.getPortal': { method: 'GET', path: '/v1/portal/{tenant_id}', isPublic: true },
  'tenants.getPortalProvider': { method: 'GET', path: '/v1/tenants/{tenant_id}/portal-provider' },
  'tenants.getPortalUser': { method: 'GET', path: '/v1/portal/{tenant_id}/me' },
  'tenants.getPropertiesSchema': { method: 'GET', path: '/v1/tenants/{tenant_id}/properties-schema' },
  'tenants.getSettings': { method: 'GET', path: '/v1/tenants/{tenant_id}/settings' },
  'tenants.getUser': { method: 'GET', path: '/v1/tenants/{tenant_id}/users/{user_id}' },
  'tenants.joinPortal': { method: 'POST', path: '/v1/portal/{tenant_id}/join', body: 'json', isPublic: true },
  'tenants.list': { method: 'GET', path: '/v1/tenants' },
  'tenants.listChannels': { method: 'GET', path: '/v1/tenants/{tenant_id}/channels' },
  'tenants.listInvitations': { method: 'GET', path: '/v1/tenants/{tenant_id}/invitations' },
  'tenants.listUsers': { method: 'GET', path: '/v1/tenants/{tenant_id}/users' },
  'tenants.mintToken': { method: 'POST', path: '/v1/tenants/{tenant_id}/tokens', body: 'json' },
  'tenants.putPortalProvider': {
    method: 'PUT',
    path: '/v1/tenants/{tenant_id}/portal-provider',
    body: 'json',
  },
  'tenants.putPropertiesSchema': {
    method: 'PUT',
    path: '/v1/tenants/{tenant_id}/properties-schema',
    body: 'json',
  },
  'tenants.refreshSession': {
    method: 'POST',
    path: '/v1/portal/{tenant_id}/session/refresh',
    body: 'json',
    isPublic: true,
  },
  'tenants.releaseChannel': {
    method: 'DELETE',
    path: '/v1/tenants/{tenant_id}/channels/{type}/{channel_id}',
  },
  'tenants.replaceSettings': { method: 'PUT', path: '/v1/tenants/{tenant_id}/settings', body: 'json' },
  'tenants.requestSignIn': {
    method: 'POST',
    path: '/v1/portal/{tenant_id}/sign-in',
    body: 'json',
    isPublic: true,
  },
  'tenants.revokeInvitation': {
    method: 'DELETE',
    path: '/v1/tenants/{tenant_id}/invitations/{invitation_id}',
  },
  'tenants.revokeTokens': { method: 'POST', path: '/v1/tenants/{tenant_id}/tokens/revoke', body: 'json' },
  'tenants.signIn': { method: 'POST', path: '/v1/portal/{tenant_id}/session', body: 'json', isPublic: true },
  'tenants.signOut': { method: 'DELETE', path: '/v1/portal/{tenant_id}/session', isPublic: true },
  'tenants.startPortalSignIn': {
    method: 'GET',
    path: '/v1/portal/{tenant_id}/provider/start',
    isPublic: true,
  },
  'tenants.testPortalProvider': { method: 'POST', path: '/v1/tenants/{tenant_id}/portal-provider/test' },
  'tenants.update': { method: 'PATCH', path: '/v1/tenants/{tenant_id}', body: 'json' },
  'tenants.updatePortalUser': { method: 'PATCH', path: '/v1/portal/{tenant_id}/me', body: 'json' },
  'tenants.updateSettings': { method: 'PATCH', path: '/v1/tenants/{tenant_id}/settings', body: 'json' },
  'tenants.updateUser': { method: 'PATCH', path: '/v1/tenants/{tenant_id}/users/{user_id}', body: 'json' },
  'webhooks.analytics': { method: 'GET', path: '/v1/webhook-analytics' },
  'webhooks.cancelEvent': { method: 'POST', path: '/v1/events/{eventId}/cancel', body: 'json' },
  'webhooks.cancelJob': { method: 'POST', path: '/v1/webhook-jobs/{jobId}/cancel' },
  'webhooks.createConnection': {
    method: 'POST',
    path: '/v1/sources/{sourceId}/connections',
    body: 'json',
    isKeyed: true,
  },
  'webhooks.createJob': { method: 'POST', path: '/v1/sources/{sourceId}/jobs', body: 'json', isKeyed: true },
  'webhooks.createSource': { method: 'POST', path: '/v1/sources', body: 'json', isKeyed: true },
  'webhooks.deleteConnection': { method: 'DELETE', path: '/v1/connections/{connectionId}' },
  'webhooks.deleteSource': { method: 'DELETE', path: '/v1/sources/{sourceId}' },
  'webhooks.editConnection': { method: 'PATCH', path: '/v1/connections/{connectionId}', body: 'json' },
  'webhooks.editSource': { method: 'PATCH', path: '/v1/sources/{sourceId}', body: 'json' },
  'webhooks.listAlerts': { method: 'GET', path: '/v1/webhook-alerts' },
  'webhooks.listAllEvents': { method: 'GET', path: '/v1/events' },
  'webhooks.listConnections': { method: 'GET', path: '/v1/sources/{sourceId}/connections' },
  'webhooks.listEvents': { method: 'GET', path: '/v1/sources/{sourceId}/events' },
  'webhooks.listJobs': { method: 'GET', path: '/v1/webhook-jobs' },
  'webhooks.listSources': { method: 'GET', path: '/v1/sources' },
  'webhooks.readBody': { method: 'GET', path: '/v1/events/{eventId}/body' },
  'webhooks.readConnection': { method: 'GET', path: '/v1/connections/{connectionId}' },
  'webhooks.readEvent': { method: 'GET', path: '/v1/events/{eventId}' },
  'webhooks.readJob': { method: 'GET', path: '/v1/webhook-jobs/{jobId}' },
  'webhooks.readSource': { method: 'GET', path: '/v1/sources/{sourceId}' },
  'webhooks.receive': { method: 'POST', path: '/in/{source_id}', body: 'raw', isPublic: true },
  'webhooks.replayEvent': {
    method: 'POST',
    path: '/v1/events/{eventId}/replay',
    body: 'json',
    isKeyed: true,
  },
  'webhooks.rotateAlertSecret': {
    method: 'POST',
    path: '/v1/sources/{sourceId}/rotate-alert-secret',
    isKeyed: true,
  },
  'webhooks.rotateSecret': {
    method: 'POST',
    path: '/v1/connections/{connectionId}/rotate-secret',
    isKeyed: true,
  },
  'webhooks.sendTestEvent': { method: 'POST', path: '/v1/sources/{sourceId}/test-event' },
  'webhooks.tailEvents': { method: 'GET', path: '/v1/sources/{sourceId}/tail', isStream: true },
  'webhooks.testConnection': { method: 'POST', path: '/v1/connections/{connectionId}/test', body: 'json' },
  'webhooks.tryRules': { method: 'POST', path: '/v1/sources/{sourceId}/try', body: 'json' },
  'webhooks.whatIf': { method: 'POST', path: '/v1/sources/{sourceId}/whatif', body: 'json' },
} as const;
