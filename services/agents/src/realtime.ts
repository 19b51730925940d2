import type { EventSink } from '@stak/http';
import { AppError } from '@stak/kit';
import type { TurnItem } from './commit.ts';
import type { Service } from './deps.ts';
import type { ConversationKey } from './leases.ts';
import * as limits from './limits.ts';
import { awaitAnswer } from './messages.ts';
import { showReply } from './views.ts';

type Address = ConversationKey & { message_id: string };

// The events of one answer. Made in this process they come as they happen, and whoever was away gets what it missed;
// made elsewhere, the whole answer comes when it is there.
export const followAnswer =
  (service: Service, address: Address, outcome?: Promise<TurnItem | undefined>) =>
  async (afterId: string | undefined, sink: EventSink): Promise<void> => {
    let sent = Number(/^\d{1,9}$/.exec(afterId ?? '')?.[0] ?? 0);
    if (afterId === undefined)
      sink.send({ id: '0', event: 'accepted', data: { message_id: address.message_id } });
    const live = service.hub.find(address);
    while (live && !sink.signal.aborted) {
      for (; sent < live.events.length; sent++) {
        const { event, data } = live.events[sent]!;
        if (event === 'reply') return finish(sink, sent + 1, data, address.message_id);
        sink.send({ id: String(sent + 1), event, data });
        await sink.ready();
      }
      if (live.isOver) break;
      await live.next(limits.answerPollMs, sink.signal);
    }
    try {
      let turn = await outcome;
      while (!turn && !sink.signal.aborted) turn = await awaitAnswer(service, address);
      if (turn) finish(sink, sent + 1, showReply(turn, address.message_id), address.message_id);
    } catch (error) {
      if (!(error instanceof AppError)) service.log.error({ err: error }, 'a turn failed');
      const { code, message } =
        error instanceof AppError ? error : { code: 'http.internal', message: 'It failed.' };
      sink.send({ id: String(sent + 1), event: 'error', data: { code, detail: message } });
    }
  };

function finish(sink: EventSink, id: number, reply: unknown, message_id: string): void {
  sink.send({ id: String(id), event: 'reply', data: { ...(reply as object), message_id } });
}
