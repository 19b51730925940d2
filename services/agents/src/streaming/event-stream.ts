import type { EventSink } from '@stak/http';
import { AppError } from '@stak/kit';
import { type Progress, readApprovals, readPaused } from '../approvals/paused-turn.ts';
import { replayEvents } from '../approvals/views.ts';
import { showReply } from '../conversations/views.ts';
import type { Service } from '../deps.ts';
import * as limits from '../limits.ts';
import type { TurnItem } from '../turns/commit-turn.ts';
import { type ConversationKey, isPaused, readState } from '../turns/lease.ts';
import { awaitAnswer } from '../turns/send-message.ts';
import type { Live, LiveEvent } from './live-answers.ts';

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
        if (await tellPaused(service, address, writer))
          await listening.wait(limits.pausedPollMs, sink.signal);
      }
    } catch (error) {
      if (!(error instanceof AppError)) service.log.error({ err: error }, 'a turn failed');
      const { code, message } =
        error instanceof AppError ? error : { code: 'http.internal', message: 'Internal error.' };
      writer.send('error', { code, detail: message });
    } finally {
      listening.close();
    }
  };

// Whether the turn waits for an approval. A reader that has not seen it pause gets what happened until then, and each
// approval once.
async function tellPaused(
  service: Service,
  address: Address,
  writer: ReturnType<typeof createWriter>,
): Promise<boolean> {
  const known = await readState(service, address);
  if (!known || !isPaused(known, service.clock.now())) return false;
  const progress = await readPaused(service, address);
  if (!progress) return false;
  const approvals = await readApprovals(service, address, progress);
  const isOurs = progress.message_ids.includes(address.message_id);
  const events = replayEvents(progress, approvals);
  writer.pause(progress, isOurs ? events : events.slice(-1)); // behind another turn: why it waits
  return true;
}

// Numbers what it sends, from 0 or after what the client has. The events of a turn are numbered from 1.
function createWriter(sink: EventSink, message_id: string, afterId: string | undefined) {
  let next = afterId === undefined ? 0 : Number(/^\d{1,9}$/.exec(afterId)?.[0] ?? 0) + 1;
  // A turn that goes on after a pause begins with what happened before, in other pieces than the client may have.
  const isLater = (live: Live) => live.isResumed && (afterId !== undefined || toldOf !== undefined);
  let followed: { live: Live; from: number } | undefined;
  const send = (event: string, data: unknown) => sink.send({ id: String(next++), event, data });
  let toldOf: string | undefined; // the approvals that a turn waits for
  const reply = (data: unknown) => send('reply', { ...(data as object), message_id });
  return {
    send,
    reply,
    pause({ calls }: Progress, events: readonly LiveEvent[]) {
      const waitsFor = idsOf(calls);
      if (toldOf === waitsFor) return;
      toldOf = waitsFor;
      for (const { event, data } of events) send(event, data);
    },
    async follow(live: Live): Promise<'replied' | 'over'> {
      const isAnother = followed ? followed.live !== live : isLater(live);
      if (isAnother) send('restart', {}); // what came of the last one does not count, or comes again
      if (followed?.live !== live) followed = { live, from: isAnother ? next : 1 };
      while (!sink.signal.aborted) {
        for (let i = next - followed.from; i < live.events.length; i = next - followed.from) {
          const { event, data } = live.events[i]!;
          if (event === 'reply') {
            reply(data);
            return 'replied';
          }
          if (event === 'waiting')
            toldOf = idsOf((data as { approvals: { approval_id: string }[] }).approvals);
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

const idsOf = (asked: readonly { approval_id?: string }[]): string =>
  asked.flatMap(({ approval_id }) => (approval_id === undefined ? [] : [approval_id])).join(' ');
