import type { EventSink } from '@stak/http';
import { AppError } from '@stak/kit';
import { replayEvents } from '../approvals/views.ts';
import { showReply } from '../conversations/views.ts';
import type { Base, Service } from '../deps.ts';
import * as limits from '../limits.ts';
import { type ConversationKey, isPaused, readState } from '../state/lease.ts';
import { type Progress, readApprovals, readPaused } from '../state/paused.ts';
import type { TurnItem } from '../state/turn-items.ts';
import type { Live, LiveEvent } from '../streaming/live-answers.ts';
import { awaitAnswer } from '../turns/send-message.ts';

type Address = ConversationKey & { message_id: string };

// Streams the events of one answer as they happen, in this process or in another one that shares the store. A client
// that reconnects gets the events it missed. If processes cannot reach each other, the answer is sent whole when it is
// done.
export const followAnswer =
  (service: Base & Pick<Service, 'hub'>, address: Address, outcome?: Promise<TurnItem | undefined>) =>
  async (afterId: string | undefined, sink: EventSink): Promise<void> => {
    const writer = createWriter(sink, address.message_id, afterId);
    if (afterId === undefined) writer.send('accepted', { message_id: address.message_id });
    const listening = service.hub.listen(address, { isFollowing: true });
    let answer = outcome;
    try {
      while (!sink.signal.aborted) {
        const live = service.hub.find(address);
        if (live && (await writer.follow(live)) === 'replied') return;
        // The turn may start later, after another one, or start again after a failure.
        answer ??= awaitAnswer(service, address);
        const begun = listening.wait(limits.busyWaitMs, sink.signal).then(() => 'begun' as const);
        const found = await Promise.race([answer, begun]);
        if (found === 'begun') continue;
        if (found) return writer.reply(showReply(found, address.message_id));
        answer = undefined; // not answered within the wait; try again
        if (await reportPause(service, address, writer))
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

// Returns whether the turn waits for an approval. Sends what happened before the pause to a client that has not seen
// it, and each approval once.
async function reportPause(
  service: Pick<Service, 'store' | 'clock'>,
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
  writer.pause(progress, isOurs ? events : events.slice(-1)); // behind another turn: only why it waits
  return true;
}

// Numbers its events, from 0 or after the client's last one. The events of a turn are numbered from 1.
function createWriter(sink: EventSink, message_id: string, afterId: string | undefined) {
  let next = afterId === undefined ? 0 : Number(/^\d{1,9}$/.exec(afterId)?.[0] ?? 0) + 1;
  // A turn that resumes after a pause repeats earlier events, perhaps split differently from what the client has.
  const isLater = (live: Live) => live.isResumed && (afterId !== undefined || sentApprovals !== undefined);
  let followed: { live: Live; from: number } | undefined;
  const send = (event: string, data: unknown) => sink.send({ id: String(next++), event, data });
  let sentApprovals: string | undefined; // the approvals that were sent
  const reply = (data: unknown) => send('reply', { ...(data as object), message_id });
  return {
    send,
    reply,
    pause({ calls }: Progress, events: readonly LiveEvent[]) {
      const waitsFor = idsOf(calls);
      if (sentApprovals === waitsFor) return;
      sentApprovals = waitsFor;
      for (const { event, data } of events) send(event, data);
    },
    async follow(live: Live): Promise<'replied' | 'over'> {
      const isAnother = followed ? followed.live !== live : isLater(live);
      if (isAnother) send('restart', {}); // earlier events are void, or are repeated
      if (followed?.live !== live) followed = { live, from: isAnother ? next : 1 };
      while (!sink.signal.aborted) {
        for (let i = next - followed.from; i < live.events.length; i = next - followed.from) {
          const { event, data } = live.events[i]!;
          if (event === 'reply') {
            reply(data);
            return 'replied';
          }
          if (event === 'waiting')
            sentApprovals = idsOf((data as { approvals: { approval_id: string }[] }).approvals);
          send(event, data);
          await sink.ready();
        }
        if (live.isOver) break;
        await live.next(limits.busyWaitMs, sink.signal);
      }
      return 'over';
    },
  };
}

const idsOf = (asked: readonly { approval_id?: string }[]): string =>
  asked.flatMap(({ approval_id }) => (approval_id === undefined ? [] : [approval_id])).join(' ');
