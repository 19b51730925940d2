import type { Answer, Fixture } from './fixture.ts';
import type { Step } from './step.ts';

const keep = (name: string) => (fixture: Fixture, answer: Answer) =>
  void fixture.known.set(name, (answer.json as Record<string, string>)[name]!);

// Each is asked twice: by the host for one of its users, and by the user.
const byBoth = (step: Step): readonly Step[] => [step, { ...step, as: 'endUser' }];

const spoken = [
  { role: 'user', content: 'Walked question' },
  { role: 'assistant', content: 'Walked answer' },
];

const talking: readonly Step[] = [
  {
    operation: 'tenants.updateSettings',
    headers: { 'if-match': '*' },
    body: {
      messages_per_day: 100,
      enabled_skills: ['remember'],
      custom_skills: ['walked_hours'],
      enabled_channels: ['dashboard', 'telegram', 'whatsapp'],
    },
  },
  {
    operation: 'agents.createConversation',
    body: { conversation_id: 'walked-talk', title: 'Walked talk', user_id: 'ann' },
    status: 201,
    keep: keep('conversation_id'),
  },
  {
    operation: 'agents.createConversation',
    body: { title: 'Walked talk of Ann' },
    as: 'endUser',
    status: 201,
  },
  ...byBoth({
    operation: 'agents.sendMessage',
    body: { content: 'Remember that I have Walked far', user_id: 'ann' },
    keep: keep('message_id'),
  }),
  { operation: 'agents.sendMessage', headers: { accept: 'text/event-stream' }, body: { content: 'Hello' } },
  ...byBoth({ operation: 'agents.getReply' }),
  ...byBoth({ operation: 'agents.listConversations', query: { user_id: 'ann' } }),
  ...byBoth({ operation: 'agents.getConversation' }),
  ...byBoth({ operation: 'agents.renameConversation', body: { title: 'Walked and talked' } }),
  ...byBoth({ operation: 'agents.listMessages', query: { order: 'newest' } }),
  ...byBoth({
    operation: 'agents.rateAnswer',
    path: { seq: '1' },
    body: { rating: 'good', comment: 'Walked well' },
  }),
  ...byBoth({ operation: 'agents.exportConversation' }),
  ...byBoth({ operation: 'agents.importConversation', body: { messages: spoken }, status: 201 }),
  ...byBoth({ operation: 'agents.getUsage' }),
  ...byBoth({ operation: 'agents.getTenantUsage' }),
  ...byBoth({
    operation: 'agents.sendUiMessage',
    body: {
      messages: [{ id: 'walked-ui', role: 'user', parts: [{ type: 'text', text: 'Hello' }] }],
      user_id: 'ann',
    },
  }),
  // Another user's chat and one that has not begun are the same to a user: nothing to resume.
  ...byBoth({ operation: 'agents.resumeUiStream', status: 204, stranger: 'own' }),
  ...byBoth({
    operation: 'agents.resumeUiChat',
    path: { chat_id: 'walked-chat' },
    status: 204,
    stranger: 'own',
  }),
  // There is no model on this server.
  ...byBoth({
    operation: 'agents.createChatCompletion',
    body: { model: 'default', messages: [{ role: 'user', content: 'Walked?' }] },
    status: 404,
  }),
  ...byBoth({
    operation: 'agents.createResponse',
    body: { model: 'default', input: 'Walked?' },
    status: 404,
  }),
  ...byBoth({ operation: 'agents.getResponse', path: { response_id: 'resp_walked' }, status: 404 }),
  ...byBoth({ operation: 'agents.cancelResponse', path: { response_id: 'resp_walked' }, status: 404 }),
  ...byBoth({ operation: 'agents.getAgentCard' }),
  ...byBoth({
    operation: 'agents.callA2a',
    body: { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: 'task_walked' } },
  }),
  ...byBoth({ operation: 'agents.listOpenAiModels' }),
  ...byBoth({ operation: 'agents.getOpenAiModel', path: { model: 'default' } }),
  { operation: 'agents.listModels', stranger: 'own' },
  { operation: 'agents.testModel', body: {}, status: 409, stranger: 'own' },
];

const approving: readonly Step[] = [
  {
    operation: 'tenants.updateSettings',
    headers: { 'if-match': '*' },
    body: { skill_approvals: { remember: 'user' } },
  },
  {
    operation: 'agents.sendMessage',
    body: { content: 'Remember that I have Walked on', user_id: 'ann' },
    status: 202,
    keep: (fixture, answer) => {
      const { approvals } = answer.json as { approvals: { approval_id: string }[] };
      fixture.known.set('approval_id', approvals[0]!.approval_id);
    },
  },
  ...byBoth({ operation: 'agents.listApprovals' }),
  ...byBoth({ operation: 'agents.listConversationApprovals' }),
  ...byBoth({ operation: 'agents.getApproval' }),
  ...byBoth({ operation: 'agents.decideApproval', body: { approved: false, reason: 'Walked away' } }),
  { operation: 'tenants.updateSettings', headers: { 'if-match': '*' }, body: { skill_approvals: null } },
];

const remembering: readonly Step[] = [
  ...byBoth({ operation: 'agents.listMemory' }),
  ...byBoth({
    operation: 'agents.editMemory',
    path: { session_id: '{conversation_id}' },
    body: { summary: 'Walked summary', key_facts: [{ fact: 'Walked fact' }] },
  }),
  { operation: 'agents.deleteMemory', path: { session_id: '{conversation_id}' } },
  ...byBoth({
    operation: 'agents.changeMemorySettings',
    body: { is_declined: false, memory_summary: 'Walked through life' },
  }),
  ...byBoth({ operation: 'agents.getMemorySettings' }),
];

const skilled: readonly Step[] = [
  {
    operation: 'agents.putCustomSkill',
    path: { name: 'walked_hours' },
    body: {
      description: 'Walked hours',
      triggers: ['opening hours'],
      parameters: { type: 'object', properties: { day: { type: 'string' } } },
      url: 'http://127.0.0.1:9999/hours',
    },
    keep: keep('name'),
  },
  { operation: 'agents.getCustomSkill' },
  { operation: 'agents.testCustomSkill', body: { arguments: { day: 'Monday' } } },
  { operation: 'agents.listCustomSkills' },
  ...byBoth({ operation: 'agents.listSkills' }),
  { operation: 'agents.deleteCustomSkill' },
];

const named: readonly Step[] = [
  {
    operation: 'agents.saveAgent',
    path: { name: 'walked_agent' },
    body: { description: 'Walked agent', prompt: 'Walked for {{user_id}}', is_open_to_users: true },
    keep: keep('name'),
  },
  { operation: 'agents.getAgent' },
  { operation: 'agents.listAgents' },
  { operation: 'agents.getAgentDifferences' },
  { operation: 'agents.publishAgent', body: { note: 'Walked note' } },
  { operation: 'agents.listAgentVersions' },
  { operation: 'agents.getAgentVersion', path: { version: '1' } },
  { operation: 'agents.deleteAgent' },
];

// The server that is walked speaks the protocol itself.
const tool = { name: 'walked' };
const toolServers: readonly Step[] = [
  {
    operation: 'agents.putMcpServer',
    path: tool,
    body: { url: '{server_url}/mcp', headers: { authorization: 'Bearer {read_key}' } },
  },
  {
    operation: 'agents.getMcpServer',
    path: tool,
    keep: (fixture, answer) => {
      const { tools } = answer.json as { tools: { name: string; hash: string }[] };
      fixture.known.set('tool_name', tools[0]!.name);
      fixture.known.set('tool_hash', tools[0]!.hash);
    },
  },
  { operation: 'agents.listMcpServers' },
  { operation: 'agents.refreshMcpServer', path: tool },
  {
    operation: 'agents.acceptMcpTools',
    path: tool,
    body: { tools: [{ name: '{tool_name}', hash: '{tool_hash}' }] },
  },
  { operation: 'agents.deleteMcpServer', path: tool },
];

const channel = { type: 'telegram', channel_id: '777' };
const delivery = { type: 'telegram', id: '777' };
// No text: an answer to one would leave this machine.
const sticker = { update_id: 1, message: { chat: { id: 1 }, from: { id: 1 }, sticker: {} } };
const handshake = { 'hub.mode': 'subscribe', 'hub.challenge': 'Walked in' };

const channelled: readonly Step[] = [
  { operation: 'tenants.claimChannel', body: channel, status: 201 },
  {
    operation: 'agents.putChannelCredentials',
    path: channel,
    body: { secret_token: 'walked-secret-of-telegram', bot_token: '777:walked' },
  },
  { operation: 'agents.takeWebhook', path: delivery, as: 'nobody', body: sticker, status: 401 },
  {
    operation: 'agents.takeWebhook',
    path: delivery,
    headers: { 'x-telegram-bot-api-secret-token': 'walked-secret-of-telegram' },
    as: 'nobody',
    body: sticker,
    stranger: { anything: 'who has the secret is Telegram' },
  },
  { operation: 'tenants.claimChannel', body: { type: 'whatsapp', channel_id: '888' }, status: 201 },
  {
    operation: 'agents.putChannelCredentials',
    path: { type: 'whatsapp', channel_id: '888' },
    body: { app_secret: 'walked-app', verify_token: 'walked-verify', access_token: 'walked-access' },
  },
  {
    operation: 'agents.verifyWebhook',
    path: { type: 'whatsapp', id: '888' },
    query: { ...handshake, 'hub.verify_token': 'somebody else' },
    as: 'nobody',
    status: 404,
  },
  {
    operation: 'agents.verifyWebhook',
    path: { type: 'whatsapp', id: '888' },
    query: { ...handshake, 'hub.verify_token': 'walked-verify' },
    as: 'nobody',
    stranger: { anything: 'who has the token is WhatsApp' },
  },
  { operation: 'agents.listChannelCredentials' },
  { operation: 'agents.deleteChannelCredentials', path: channel },
];

export const agentsSteps: readonly Step[] = [
  ...talking,
  ...approving,
  ...remembering,
  ...skilled,
  ...named,
  ...toolServers,
  ...channelled,
  ...byBoth({ operation: 'agents.cancelAnswer' }),
  { operation: 'agents.clearConversation' },
  { operation: 'agents.deleteConversation', as: 'endUser' },
];
