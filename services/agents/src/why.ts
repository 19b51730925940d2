import { type Find, type Findings, type Ref, refOfCause, type Thing } from '@stak/kit';
import type { ItemOf, Store } from '@stak/table';
import * as limits from './limits.ts';
import { approval, approvalsOfConversation, message, type pausedTurn, turn, turnById } from './main-table.ts';
import { type ConversationKey, readState, type StateItem } from './state/lease.ts';
import { parseMessages, partsOf } from './state/message-format.ts';
import { type PendingCall, readPaused } from './state/paused.ts';
import type { MessageItem, TurnItem } from './state/turn-items.ts';
import { ruleCallOf } from './turns/reply.ts';

// Why agents did things: a message, the turn that answers it, its calls with their approvals, and what they made. See
// docs/adr/0236-what-is-written-names-its-cause.md

type Deps = { store: Store };
type ApprovalItem = ItemOf<typeof approval>;
type Paused = ItemOf<typeof pausedTurn>;

// A turn, finished or not, with what is needed to find its calls.
type Acted = {
  key: ConversationKey;
  ref: Ref;
  turn_id: string | undefined;
  at: string;
  routing: string;
  decided: string;
  message_ids: readonly string[];
  messages: string;
  calls: readonly Pick<PendingCall, 'tool_call_id' | 'name' | 'input'>[];
  cause?: string | undefined;
};

const ref = (kind: string, ...parts: (string | number)[]): Ref => ({ kind, parts: parts.map(String) });
const numberOf = (part: string | undefined): number | undefined =>
  part !== undefined && /^\d{1,12}$/.test(part) ? Number(part) : undefined;

export function createWhy(deps: Deps) {
  const { store } = deps;

  // Nothing of a conversation that is deleted, or of one before it was cleared.
  const stateOf = async (key: ConversationKey, epoch?: number): Promise<StateItem | undefined> => {
    const known = await readState(deps, key);
    const isThere = known && !known.is_deleted && (epoch === undefined || known.epoch === epoch);
    return isThere ? known : undefined;
  };

  const findTurn = async (parts: readonly string[]): Promise<Acted | undefined> => {
    const [tenant_id = '', conversation_id = ''] = parts;
    const [seq, known] = [numberOf(parts.at(-1)), numberOf(parts.at(-2))];
    if (parts.length === 1) return findById(tenant_id);
    if (seq === undefined || parts.length > 4) return undefined;
    const key = { tenant_id, conversation_id };
    const state = await stateOf(key, parts.length === 4 ? (known ?? -1) : undefined);
    if (!state || seq > state.last_seq) return undefined;
    const { epoch } = state; // without one, as it is now
    const found = await store.get(turn, { ...key, epoch, seq }, { consistent: true });
    return found && finished(found);
  };

  const findById = async (turn_id: string): Promise<Acted | undefined> => {
    const { items } = await store.query(turnById, { turn_id }, { limit: 2 });
    for (const { entity, item } of items) {
      const { tenant_id, conversation_id } = item;
      if (entity === 'turn')
        return findTurn([tenant_id, conversation_id, String(item.epoch), String(item.seq)]);
      const progress = await readPaused(deps, { tenant_id, conversation_id });
      if (progress?.turn_id === turn_id)
        return unfinished({ tenant_id, conversation_id }, { ...progress, messages: '' }, progress.calls);
    }
    return undefined;
  };

  const approvalsOf = async (key: ConversationKey, turn_id: string): Promise<ApprovalItem[]> => {
    const { items } = await store.query(approvalsOfConversation, key, { limit: limits.followedListed });
    return items.filter(one => one.turn_id === turn_id);
  };

  const turnThing = async (found: Acted, accountId: string): Promise<Thing[]> => {
    const { key, turn_id, message_ids } = found;
    const state = await stateOf(key);
    if (!state) return [];
    const [first] = message_ids;
    const asked = first === undefined ? undefined : await store.get(message, { ...key, message_id: first });
    const approvals = turn_id === undefined ? [] : await approvalsOf(key, turn_id);
    const approved = new Set(approvals.map(({ tool_call_id }) => tool_call_id));
    const calls = turn_id === undefined ? [] : found.calls;
    return [
      {
        ref: found.ref,
        at: Date.parse(found.at),
        what: message_ids.length > 1 ? `the answer to ${message_ids.length} messages` : 'the answer',
        decided: found.decided,
        ...ownedBy(state),
        cause: asked ? chatRef(asked) : refOfCause(found.cause, accountId),
        followed: [
          ...approvals.map(({ approval_id }) => approvalRef(key, approval_id)),
          ...calls
            .filter(({ tool_call_id }) => !approved.has(tool_call_id))
            .map(({ tool_call_id }) => ref('call', turn_id!, tool_call_id)),
        ],
      },
    ];
  };

  const chatThing = async (found: MessageItem, accountId: string): Promise<Thing[]> => {
    const { epoch, seq, status, cause } = found;
    const state = await stateOf(found, epoch);
    if (!state) return [];
    const { tenant_id, conversation_id } = found;
    const answer =
      epoch !== undefined && seq !== undefined
        ? [ref('turn', tenant_id, conversation_id, epoch, seq)]
        : state.paused !== undefined && status === 'waiting' && (await isAnswered(found, state.paused))
          ? [ref('turn', state.paused)]
          : [];
    return [
      {
        ref: chatRef(found),
        at: found.accepted_at,
        what: `a message through ${found.channel}`,
        by: found.user_id,
        decided: found.reason === undefined ? status : `${status}: ${found.reason}`,
        ...ownedBy(state),
        cause: refOfCause(cause, accountId),
        followed: answer,
      },
    ];
  };
  const isAnswered = async (found: MessageItem, turn_id: string): Promise<boolean> => {
    const progress = await readPaused(deps, found);
    return progress?.turn_id === turn_id && progress.message_ids.includes(found.message_id);
  };

  const approvalThing = async (found: ApprovalItem): Promise<Thing[]> => {
    const { tenant_id, approval_id, turn_id, tool_call_id, status } = found;
    const state = await stateOf(found, found.epoch);
    if (!state) return [];
    return [
      {
        ref: approvalRef(found, approval_id),
        at: Date.parse(found.decided_at ?? found.created_at),
        what: `of ${found.name}, by ${found.approval === 'admin' ? 'an admin' : 'the user'}`,
        by: found.decided_by,
        decided: found.reason === undefined ? status : `${status}: ${found.reason}`,
        ...ownedBy(state),
        cause: ref('turn', turn_id),
        followed: [
          ref('requested', tenant_id, approval_id, ...(state.user_id === undefined ? [] : [state.user_id])),
          ...(status === 'approved' ? [ref('call', turn_id, tool_call_id)] : []),
        ],
      },
    ];
  };

  const call: Find = async ([turn_id = '', tool_call_id = ''], { accountId }) => {
    const found = await findById(turn_id);
    const state = found && (await stateOf(found.key));
    const made = found?.calls.find(one => one.tool_call_id === tool_call_id);
    if (!found || !state || !made) return [];
    const approved = (await approvalsOf(found.key, turn_id)).find(one => one.tool_call_id === tool_call_id);
    const named = approved?.name ?? made.name;
    const whose = state.user_id === undefined ? [accountId] : [state.tenant_id, state.user_id];
    const mentioned = (shape: RegExp) =>
      [
        ...new Set(`${found.messages} ${JSON.stringify(made.input)} ${approved?.input ?? ''}`.match(shape)),
      ].slice(0, limits.followedListed);
    const key = `${turn_id}.${tool_call_id}`;
    return [
      {
        ref: ref('call', turn_id, tool_call_id),
        at: Date.parse(found.at),
        what: `of the skill ${named}`,
        ...ownedBy(state),
        cause: approved ? approvalRef(found.key, approved.approval_id) : found.ref,
        followed: [
          ...mentioned(/tsk_[0-9a-z]{24}/g).map(id => ref('created', id, turn_id, tool_call_id, ...whose)),
          ref('sent', state.tenant_id, key),
          ...(state.user_id === undefined
            ? mentioned(/evt_[0-9a-z]{24}/g).map(id => ref('replayed', id, key))
            : []),
        ],
      },
    ];
  };

  const findings: Findings = {
    async chat([tenant_id = '', conversation_id = '', message_id = ''], { accountId }) {
      const found = await store.get(message, { tenant_id, conversation_id, message_id });
      return found ? chatThing(found, accountId) : [];
    },
    async turn(parts, { accountId }) {
      const found = await findTurn(parts);
      return found ? turnThing(found, accountId) : [];
    },
    async approval([tenant_id = '', conversation_id = '', approval_id = '']) {
      const found = await store.get(approval, { tenant_id, conversation_id, approval_id });
      return found ? approvalThing(found) : [];
    },
    call,
  };
  return {
    findings,
    // The ids of the calls that a turn has made.
    callsOf: async (turn_id: string) =>
      ((await findById(turn_id))?.calls ?? []).map(({ tool_call_id }) => tool_call_id),
  };
}

const chatRef = ({ tenant_id, conversation_id, message_id }: MessageItem) =>
  ref('chat', tenant_id, conversation_id, message_id);
const approvalRef = ({ tenant_id, conversation_id }: ConversationKey, approval_id: string) =>
  ref('approval', tenant_id, conversation_id, approval_id);

const ownedBy = ({ tenant_id, user_id }: StateItem) => ({
  owner: { tenant: tenant_id, users: user_id === undefined ? [] : [user_id] },
  scope: 'agents:chat',
});

const decidedBy = (routing: string, rule?: string, model?: string): string =>
  routing === 'model'
    ? `by the model ${model ?? '?'}`
    : routing === 'rule'
      ? `by the rule ${rule ?? '?'}`
      : routing;

function finished(found: TurnItem): Acted {
  const { tenant_id, conversation_id, epoch, seq, turn_id, routing, rule, model, skills = [] } = found;
  const ofRule =
    turn_id !== undefined && routing === 'rule'
      ? [{ tool_call_id: ruleCallOf(turn_id), name: skills[0] ?? '?', input: undefined }]
      : [];
  return {
    key: { tenant_id, conversation_id },
    ref: ref('turn', tenant_id, conversation_id, epoch, seq),
    turn_id,
    at: found.created_at,
    routing,
    decided: decidedBy(routing, rule, model),
    message_ids: found.message_ids,
    messages: found.messages,
    calls: ofRule.length > 0 ? ofRule : callsIn(found.messages),
    cause: found.cause,
  };
}

const unfinished = (
  key: ConversationKey,
  found: Pick<Paused, 'turn_id' | 'created_at' | 'routing' | 'model' | 'message_ids' | 'messages'>,
  calls: Acted['calls'],
): Acted => ({
  key,
  ref: ref('turn', found.turn_id),
  turn_id: found.turn_id,
  at: found.created_at,
  routing: found.routing,
  decided: `${decidedBy(found.routing, 'skill', found.model)}, not finished`,
  message_ids: found.message_ids,
  messages: JSON.stringify(calls),
  calls,
});

function callsIn(messages: string): Acted['calls'] {
  const parts = partsOf(parseMessages(messages));
  return parts.flatMap(part =>
    part.type === 'tool-call'
      ? [{ tool_call_id: part.toolCallId, name: part.toolName, input: part.input }]
      : [],
  );
}
