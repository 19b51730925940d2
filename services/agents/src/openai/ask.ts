import { hashParts, type PrincipalOf, principalKey } from '@stak/http';
import { agentOf, chooseAgent } from '../agents/current.ts';
import { readDefinition } from '../agents/definition.ts';
import { agentsOfTenant } from '../agents/tables.ts';
import { importConversation } from '../conversations/conversations.ts';
import { findConversation } from '../conversations/external-writes.ts';
import type { EnteredTenant, Service, TurnDeps } from '../deps.ts';
import { agentErrors } from '../errors.ts';
import * as limits from '../limits.ts';
import { findModels } from '../models/ask-model.ts';
import { type ModelName, modelText } from '../models/models.ts';
import * as schema from '../schema.ts';
import { readAgentSettings } from '../settings.ts';
import { skillNames } from '../skills/enabled-skills.ts';
import { type Caller, resolveChat, resolveUser } from '../state/access.ts';
import type { Address } from '../state/answer-ids.ts';
import { type AnswerOptions, definesAnswer } from '../state/answer-options.ts';
import {
  cleanText,
  type Message,
  type OpenCall,
  openCalls,
  type Part,
  parseMessages,
  partsOf,
} from '../state/message-format.ts';
import { readTurns } from '../state/reads.ts';
import { isAccepted, type Sent, sendMessage } from '../turns/send-message.ts';
import { refuseField } from './error-shape.ts';

// A request of OpenAI's protocols, as a message of a conversation here.

export type OpenAiDeps = TurnDeps & Pick<Service, 'isStoreLocal' | 'countMessage'>;

export type Ask = {
  caller: PrincipalOf<'user'>;
  tenant: EnteredTenant;
  key: string | undefined; // the caller's Idempotency-Key
  cause: string;
  model: string;
  user: string | undefined;
  conversation_id: string | undefined; // to continue, or to begin
  isKept: boolean; // otherwise the caller keeps the conversation
  field: 'messages' | 'input'; // of the body, for errors
  messages: Message[]; // results of tools do not name their tools yet
  options: Omit<AnswerOptions, 'input' | 'history' | 'model'>;
  isFollowed: boolean;
};

export type Asked = { address: Address; sent: Sent };

export async function ask(service: OpenAiDeps, given: Ask): Promise<Asked> {
  const { caller, tenant, key, conversation_id: named, isKept, field, options } = given;
  const agent = agentIn(given.model);
  const model = agent === undefined ? await findModel(service, caller, tenant, given.model) : undefined;
  if (agent !== undefined) await checkAgent(service, caller, tenant, agent);
  if (caller.kind === 'endUser' && options.instructions !== undefined)
    refuseField([field], 'Only the host can send instructions, with an API key');
  if (caller.kind === 'endUser') await refuseSkills(service, given);
  const user_id = readUser(caller, given.user);
  const { tenant_id } = tenant;
  const own =
    key === undefined ? service.ids.next('chat') : `chat-${hashParts('openai', principalKey(caller), key)}`;
  const { conversation_id } =
    named === undefined
      ? { conversation_id: own }
      : await resolveChat(service, caller, { tenant_id, conversation_id: named });

  const messages = cleaned(given.messages);
  const begin = messages.findLastIndex(({ role }) => role === 'assistant') + 1;
  const [history, rest] = [messages.slice(0, begin), messages.slice(begin)];
  if (rest.length === 0)
    refuseField([field], 'The last message has to be of the user, or the result of a function');
  const address = { tenant_id, conversation_id };
  const known = named === undefined ? history : await readLastTurns(service, caller, address);
  const isRepeated = await isAccepted(service, caller, address, key);
  const calls = isRepeated ? callsIn(known) : openCalls(known);
  const input = rest.map(message => withToolName(message, calls, field));

  const isImported = named === undefined && isKept && history.length > 0;
  if (isImported)
    await importConversation(
      service,
      address,
      { user_id, ...(await chooseAgent(service, caller, tenant, { agent })) },
      {
        messages: history,
        mostMessages: tenant.settings.max_conversation_history,
        creation_id: hashParts(conversation_id),
        endsOpen: true,
      },
    );
  const asked: AnswerOptions = {
    input,
    ...(named === undefined && !isKept && history.length > 0 && { history }),
    ...options,
    ...(model && { model }),
  };
  const plain = plainText(asked);
  if (plain?.trim() === '') refuseField([field], 'Something has to be said');
  if (Buffer.byteLength(JSON.stringify(asked)) > limits.answerOptionsBytes)
    refuseField([field], `The request has more than ${limits.answerOptionsBytes} bytes`);
  const isPlain = plain !== undefined && plain.length <= limits.contentChars;
  const sent = await sendMessage(service, {
    ...{ caller, tenant, conversation_id, user_id, key, cause: given.cause },
    ...{ isFollowed: given.isFollowed, agent: { agent } },
    ...{ creates: true, isTemporary: named === undefined && !isKept },
    ...(isPlain ? { content: plain } : { content: '', options: asked }),
  });
  return { address: { tenant_id, conversation_id, message_id: sent.message_id }, sent };
}

// An end user who could take the place of a skill, or say what one has answered before, could make the agent believe
// anything that it looks up, such as that an order is to be refunded.
async function refuseSkills(service: OpenAiDeps, { tenant, field, messages, options }: Ask): Promise<void> {
  const offered = options.tools?.map(({ name }) => name) ?? [];
  const called = partsOf(messages).flatMap(part => (part.type === 'tool-call' ? [part.toolName] : []));
  if (offered.length + called.length === 0) return;
  // Of any agent: the conversation may be handed over.
  const isSkill = await skillNames(service, tenant.tenant_id);
  const taken = (names: readonly string[]) => names.find(isSkill);
  const [asTool, asCall] = [taken(offered), taken(called)];
  if (asTool !== undefined) refuseField(['tools'], `${asTool} is a skill of the agent`);
  if (asCall !== undefined)
    refuseField([field], `${asCall} is a skill of the agent, not a function of yours`);
}

// A message of the user and nothing else is sent as through every other door.
function plainText(asked: AnswerOptions): string | undefined {
  const [only, ...others] = asked.input;
  const isPlain = others.length === 0 && only?.role === 'user' && !asked.history && !definesAnswer(asked);
  return isPlain ? only.content : undefined;
}

const cleaned = (messages: readonly Message[]): Message[] =>
  messages.map(message =>
    typeof message.content === 'string'
      ? ({ ...message, content: cleanText(message.content) } as Message)
      : message,
  );

// The turn that results of the caller's functions continue, and the one before it.
async function readLastTurns(
  service: OpenAiDeps,
  caller: Caller,
  address: Omit<Address, 'message_id'>,
): Promise<Message[]> {
  const head = await findConversation(service, caller, address).catch(error => {
    if (agentErrors.includes(error) && error.code === 'agents.conversation_not_found') return undefined;
    throw error;
  });
  const turns = head ? await readTurns(service, address, head, 2, Number.POSITIVE_INFINITY) : [];
  return turns.flatMap(({ messages }) => parseMessages(messages));
}

const callsIn = (messages: readonly Message[]): OpenCall[] =>
  openCalls(messages.filter(({ role }) => role !== 'tool'));

function withToolName(message: Message, calls: readonly OpenCall[], field: string): Message {
  if (message.role !== 'tool') return message;
  const content = message.content.map((part): Part => {
    if (part.type !== 'tool-result') return part;
    const call = calls.find(({ tool_call_id }) => tool_call_id === part.toolCallId);
    if (!call) return refuseField([field], `No call "${part.toolCallId.slice(0, 100)}" waits for a result`);
    return { ...part, toolName: call.name };
  });
  return { ...message, content };
}

function readUser(caller: PrincipalOf<'user'>, given: string | undefined): string | undefined {
  if (given !== undefined && !schema.userId.safeParse(given).success)
    refuseField(['user'], 'Letters, digits and . _ : @ | + = ~ -, at most 128, as in the id of a user here');
  return resolveUser(caller, given);
}

const noModel = (message: string) => agentErrors.create('agents.model_not_found', message);

// The models that a caller may name, besides `default`: a host those of the server, a user those that the tenant has
// chosen for them.
export async function listModels(
  service: OpenAiDeps,
  { kind }: Caller,
  { settings }: EnteredTenant,
): Promise<ModelName[]> {
  const { models } = service;
  if (!models) return [];
  const chosen = (await findModels({ models, settings: readAgentSettings(settings) })).map(
    ({ name }) => name,
  );
  if (kind === 'endUser') return chosen;
  const all = [...chosen, ...((await models.list?.()) ?? [])];
  return [...new Map(all.map(name => [modelText(name), name])).values()];
}

export const anyModel = 'default';

// An agent of the tenant is named as a model is. No provider has this name.
export const agentPrefix = 'agent/';
const agentIn = (model: string): string | undefined =>
  model.startsWith(agentPrefix) ? model.slice(agentPrefix.length) : undefined;

// The agents that a caller may name.
export async function listAgentNames(
  { store }: Pick<OpenAiDeps, 'store'>,
  { kind }: Pick<Caller, 'kind'>,
  { tenant_id }: Pick<EnteredTenant, 'tenant_id'>,
): Promise<string[]> {
  const { items } = await store.query(agentsOfTenant, { tenant_id }, { limit: limits.namedAgents });
  return items
    .filter(({ published }) => published !== undefined)
    .filter(one => kind === 'account' || readDefinition(one.published!).is_open_to_users)
    .map(({ name }) => name);
}

async function checkAgent(
  service: OpenAiDeps,
  caller: Caller,
  tenant: EnteredTenant,
  agent: string,
): Promise<void> {
  const ref = await chooseAgent(service, caller, tenant, { agent }).catch(error => {
    if (!agentErrors.includes(error)) throw error;
    throw noModel(`The model "${agentPrefix}${agent.slice(0, 100)}" does not exist, or you cannot use it.`);
  });
  const settings = readAgentSettings((await agentOf(service, tenant, ref)).settings);
  const { models } = service;
  if (!models || (await findModels({ models, settings })).length === 0)
    throw noModel(`No model is configured. ${models?.missing ?? ''}`.trim());
}

// Undefined for the tenant's own choice.
async function findModel(
  service: OpenAiDeps,
  caller: Caller,
  tenant: EnteredTenant,
  asked: string,
): Promise<ModelName | undefined> {
  const { models } = service;
  const settings = readAgentSettings(tenant.settings);
  if (asked === anyModel) {
    if (models && (await findModels({ models, settings })).length > 0) return undefined;
    throw noModel(`No model is configured. ${models?.missing ?? ''}`.trim());
  }
  const listed = await listModels(service, caller, tenant);
  const matching = listed.filter(name => modelText(name) === asked || name.model === asked);
  if (matching.length > 1)
    throw noModel(`Several providers have a model "${asked}": ${matching.map(modelText).join(', ')}.`);
  const found = matching[0] ?? (await findUnlisted(models, caller, asked));
  if (!found || (await findModels({ models: models!, settings, only: found })).length === 0)
    throw noModel(`The model "${asked.slice(0, 100)}" does not exist, or you cannot use it.`);
  return found;
}

// Providers accept models that they do not list, such as a name without its date.
async function findUnlisted(
  models: OpenAiDeps['models'],
  { kind }: Caller,
  asked: string,
): Promise<ModelName | undefined> {
  const [provider = '', ...rest] = asked.split('/');
  const name = { provider, model: rest.join('/') };
  if (kind !== 'account' || !models?.problemWith || !models.providers?.includes(provider)) return undefined;
  return (await models.problemWith(name)) === undefined ? name : undefined;
}
