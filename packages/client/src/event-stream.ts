import { clientError } from './errors.ts';
import * as limits from './limits.ts';

export type RawEvent = { id: string | undefined; event: string; data: string };
export type StreamSink = { onEvent(event: RawEvent): void; onRetry(ms: number): void };

// Parses an event stream in chunks of any size, according to the HTML standard.
export function createEventParser({ onEvent, onRetry }: StreamSink): (text: string) => void {
  let rest = '';
  let data: string[] = [];
  let event = '';
  let id: string | undefined;
  let size = 0; // of the incomplete event

  const takeLine = (line: string) => {
    if (line === '') {
      if (data.length > 0) onEvent({ id, event: event || 'message', data: data.join('\n') });
      data = [];
      event = '';
      size = 0;
      return;
    }
    size += line.length;
    const colon = line.indexOf(':');
    if (colon === 0) return; // a comment, sent as a heartbeat
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'data') data.push(value);
    else if (field === 'event') event = value;
    else if (field === 'id' && !value.includes('\0')) id = value;
    else if (field === 'retry' && /^\d+$/.test(value)) onRetry(Number(value));
  };

  return text => {
    rest += text;
    // A carriage return at the very end may be half of a line break.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop()!;
    for (const line of lines) takeLine(line);
    if (rest.length + size > limits.eventChars)
      throw clientError('client.answer_invalid', 'An event has no end.');
  };
}
