import type { EventSink } from '@stak/http';
import { AppError } from '@stak/kit';
import { showReply } from '../conversations/views.ts';
import type { Service } from '../deps.ts';
import * as limits from '../limits.ts';
import type { TurnItem } from '../turns/commit-turn.ts';
import type { ConversationKey } from '../turns/lease.ts';
import { awaitAnswer } from '../turns/send-message.ts';
import type { Live } from './live-answers.ts';

type Address = ConversationKey & { message_id: string };

// The events of one answer, as they happen, in this process or in another one that shares the store; a client that
// was away gets what it missed. Where processes cannot reach each other, the whole answer comes when it is there.
export const followAnswer =
  (service: Service, address: Address, outcome?: Promise<TurnItem | undefined>) =>
  async (afterId: string | undefined, sink: EventSink): Promise<void> => {
    const writer = createWriter(sink, address.message_id, afterId);
    if (afterId === undefined) writer.send('accepted', { message_id: address.message_id });
    const listening = service.hub.listen(address, { isFollowing: true });
    let answer = outcome;
    try {
      while (!sink.signal.aborted) {
        const live = service.hub.find(address);
        if (live && (await writer.follow(live)) === 'replied') return;
        // The turn may begin later, behind another one, or be begun again after it failed: then it is followed.
        answer ??= awaitAnswer(service, address);
        const begun = listening.wait(limits.busyWaitMs, sink.signal).then(() => 'begun' as const);
        const found = await Promise.race([answer, begun]);
        if (found === 'begun') continue;
        if (found) return writer.reply(showReply(found, address.message_id));
        answer = undefined; // it takes longer than anybody waits at a time
      }
    } catch (error) {
      if (!(error instanceof AppError)) service.log.error({ err: error }, 'a turn failed');
      const { code, message } =
        error instanceof AppError ? error : { code: 'http.internal', message: 'It failed.' };
      writer.send('error', { code, detail: message });
    } finally {
      listening.close();
    }
  };

// Numbers what it sends, from 0 or after what the client has. The events of a turn are numbered from 1.
function createWriter(sink: EventSink, message_id: string, afterId: string | undefined) {
  let next = afterId === undefined ? 0 : Number(/^\d{1,9}$/.exec(afterId)?.[0] ?? 0) + 1;
  let followed: { live: Live; from: number } | undefined;
  const send = (event: string, data: unknown) => sink.send({ id: String(next++), event, data });
  const reply = (data: unknown) => send('reply', { ...(data as object), message_id });
  return {
    send,
    reply,
    async follow(live: Live): Promise<'replied' | 'over'> {
      if (followed && followed.live !== live) send('restart', {}); // what came of the last one does not count
      if (followed?.live !== live) followed = { live, from: followed ? next : 1 };
      while (!sink.signal.aborted) {
        for (let i = next - followed.from; i < live.events.length; i = next - followed.from) {
          const { event, data } = live.events[i]!;
          if (event === 'reply') {
            reply(data);
            return 'replied';
          }
          send(event, data);
          await sink.ready();
        }
        if (live.isOver) break;
        await live.next(limits.answerPollMs, sink.signal);
      }
      return 'over';
    },
  };
}
