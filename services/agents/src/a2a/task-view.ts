import type { EventSink } from '@stak/http';
import { sayWaiting } from '../approvals/views.ts';
import { isFailure, isReply, type Outcome, type Reply, type Waiting } from '../chat/outcome.ts';
import { type Address, idOf, parseId } from '../state/answer-ids.ts';

// A message and its answer, as a task of A2A. Its id says which message it is about, so nothing is stored to find it.

const prefix = 'task_';
const taskIdOf = (address: Omit<Address, 'tenant_id'>): string => idOf(prefix, address);
export const parseTaskId = (id: string) => parseId(prefix, id);

const artifactId = 'answer';
const artifactOf = (text: string) => ({ artifactId, name: 'Answer', parts: [{ text }] });

type State = 'SUBMITTED' | 'WORKING' | 'INPUT_REQUIRED' | 'COMPLETED' | 'CANCELED' | 'FAILED';
type Part = { text: string } | { data: unknown };
type TaskView = { status: { state: string; timestamp: string }; [field: string]: unknown };

// Approvals are asked for in words, and as data that an answer refers to.
const partsOfWaiting = ({ approvals }: Waiting): Part[] => [
  { text: sayWaiting(approvals) },
  { data: { approvals } },
];

export function stateOf(outcome: Outcome): State {
  if (outcome === undefined) return 'WORKING';
  if (isFailure(outcome)) return 'FAILED';
  if (isReply(outcome)) return outcome.rule === 'cancelled' ? 'CANCELED' : 'COMPLETED';
  return outcome.approvals.some(({ status }) => status === 'waiting') ? 'INPUT_REQUIRED' : 'WORKING';
}

export const isOver = (outcome: Outcome): boolean =>
  ['COMPLETED', 'CANCELED', 'FAILED'].includes(stateOf(outcome));

function statusOf(address: Address, state: State, atMs: number, parts?: Part[]) {
  const { conversation_id: contextId, message_id } = address;
  return {
    state: `TASK_STATE_${state}`,
    timestamp: new Date(atMs).toISOString(),
    ...(parts && {
      message: {
        ...{ messageId: `${message_id}.status`, contextId, taskId: taskIdOf(address) },
        ...{ role: 'ROLE_AGENT', parts },
      },
    }),
  };
}

function saidOf(outcome: Outcome): Part[] | undefined {
  if (isFailure(outcome)) return [{ text: outcome.message }];
  return outcome && !isReply(outcome) && stateOf(outcome) === 'INPUT_REQUIRED'
    ? partsOfWaiting(outcome)
    : undefined;
}

const figuresOf = ({ model, usage }: Reply) => ({ ...(model && { model }), ...(usage && { usage }) });

export function showTask(address: Address, outcome: Outcome, atMs: number): TaskView {
  const reply = isReply(outcome) ? outcome : undefined;
  return {
    id: taskIdOf(address),
    contextId: address.conversation_id,
    status: statusOf(address, stateOf(outcome), atMs, saidOf(outcome)),
    ...(reply && reply.reply.content !== '' && { artifacts: [artifactOf(reply.reply.content)] }),
    ...(reply && { metadata: figuresOf(reply) }),
  };
}

type Event = { event?: string; data: unknown };

// A sink for followAnswer that sends the task, pieces of its answer, and how it ends.
export function taskSink(
  sink: EventSink,
  { address, nowMs, send }: { address: Address; nowMs: () => number; send(result: object): void },
): EventSink {
  const over = new AbortController();
  const ids = { taskId: taskIdOf(address), contextId: address.conversation_id };
  let said = '';
  let isNextStep = false;
  const say = (text: string, { append = said !== '', lastChunk = false } = {}) => {
    said = append ? said + text : text;
    send({ artifactUpdate: { ...ids, artifact: artifactOf(text), append, lastChunk } });
  };
  const tell = (state: State, parts?: Part[], metadata?: object) =>
    send({
      statusUpdate: {
        ...{ ...ids, status: statusOf(address, state, nowMs(), parts) },
        ...(metadata && { metadata }),
      },
    });
  const end = (state: State, parts?: Part[], metadata?: object) => {
    tell(state, parts, metadata);
    over.abort('over');
  };
  const translate = ({ event, data }: Event) => {
    const fields = data as Record<string, unknown>;
    if (over.signal.aborted) return;
    if (event === 'accepted') send({ task: showTask(address, undefined, nowMs()) });
    else if (event === 'delta') {
      say(`${isNextStep && said !== '' ? '\n\n' : ''}${String(fields.text)}`);
      isNextStep = false;
    } else if (event === 'skill') {
      isNextStep = true;
      tell('WORKING', undefined, { skill: fields.name });
    } else if (event === 'waiting') end('INPUT_REQUIRED', partsOfWaiting(data as Waiting));
    else if (event === 'restart' && said !== '') say('', { append: false });
    else if (event === 'error') end('FAILED', [{ text: String(fields.detail) }], { code: fields.code });
    else if (event === 'reply') {
      const reply = data as Reply;
      const { content } = reply.reply;
      // The pieces were those of several steps, or of an attempt that is void.
      if (content !== said) say(content, { append: false, lastChunk: true });
      end(stateOf(reply), undefined, figuresOf(reply));
    }
  };
  return { ready: sink.ready, signal: AbortSignal.any([sink.signal, over.signal]), send: translate };
}
