import type { EventSink } from '@stak/http';
import type { Outcome } from '../chat/outcome.ts';
import type { Address } from '../state/answer-ids.ts';
import { restarted } from './chat-response.ts';
import { type Echo, messageItem, type OutputItem, outputOf, showResponse } from './response-view.ts';

// https://platform.openai.com/docs/api-reference/responses-streaming

type Event = { event?: string; data: unknown };
type Streamed = { address: Address; echo: Echo; nowMs: number };

// A sink for followAnswer that sends the events of a response.
export function responseSink(sink: EventSink, { address, echo, nowMs }: Streamed): EventSink {
  const over = new AbortController();
  let number = 0;
  let said: string | undefined; // once the message has begun
  let isNextStep = false;
  const send = (type: string, fields: object) =>
    sink.send({ event: type, data: { type, sequence_number: number++, ...fields } });
  const message = () => messageItem(address, said ?? '', 'in_progress');
  const at = () => ({ item_id: message().id, output_index: 0, content_index: 0 });
  const part = (text: string) => ({ type: 'output_text', text, annotations: [] });
  const begin = () => {
    said = '';
    send('response.output_item.added', { output_index: 0, item: message() });
    send('response.content_part.added', { ...at(), part: part('') });
  };
  const say = (text: string) => {
    if (said === undefined) begin();
    const delta = isNextStep && said !== '' ? `\n\n${text}` : text;
    isNextStep = false;
    said += delta;
    send('response.output_text.delta', { ...at(), delta, logprobs: [] });
  };
  const closeMessage = () => {
    if (said === undefined) return;
    send('response.output_text.done', { ...at(), text: said, logprobs: [] });
    send('response.content_part.done', { ...at(), part: part(said) });
    send('response.output_item.done', { output_index: 0, item: messageItem(address, said, 'completed') });
  };
  const addItem = (item: OutputItem, output_index: number) => {
    if (item.type === 'message') return;
    const begun = item.type === 'function_call' ? { ...item, status: 'in_progress', arguments: '' } : item;
    send('response.output_item.added', { output_index, item: begun });
    if (item.type === 'function_call') {
      const where = { item_id: item.id, output_index };
      send('response.function_call_arguments.delta', { ...where, delta: item.arguments });
      send('response.function_call_arguments.done', { ...where, name: item.name, arguments: item.arguments });
    }
    send('response.output_item.done', { output_index, item });
  };
  const finish = (type: string, outcome: Outcome) => {
    send(type, { response: showResponse(address, echo, nowMs, outcome) });
    over.abort('over');
  };
  const end = (outcome: Outcome) => {
    const items = outputOf(address, outcome);
    const [first] = items;
    if (said === undefined && first?.type === 'message') say(first.content.map(({ text }) => text).join(''));
    closeMessage();
    items.forEach(addItem);
    const { status } = showResponse(address, echo, nowMs, outcome);
    finish(status === 'incomplete' ? 'response.incomplete' : 'response.completed', outcome);
  };
  const translate = ({ event, data }: Event) => {
    const fields = data as Record<string, unknown>;
    if (over.signal.aborted) return;
    if (event === 'accepted') {
      const response = showResponse(address, echo, nowMs, undefined);
      send('response.created', { response });
      send('response.in_progress', { response });
    } else if (event === 'delta') say(String(fields.text));
    else if (event === 'skill') isNextStep = true;
    else if (event === 'restart' && said !== undefined)
      finish('response.failed', { code: 'answer_restarted', message: restarted });
    else if (event === 'error')
      finish('response.failed', { code: String(fields.code), message: String(fields.detail) });
    else if (event === 'waiting' || event === 'reply') end(data as Outcome);
  };
  return { ready: sink.ready, signal: AbortSignal.any([sink.signal, over.signal]), send: translate };
}
