import {
  backoffMs,
  createNotifier,
  cutText,
  type Owners,
  type Random,
  type Sealer,
  type Worker,
  watchGone,
} from '@stak/kit';
import { type Brand, type Mailer, type MailOutcome, renderMail } from '@stak/mail';
import { failedStep, isUnavailable, tableErrors, type WriteStep, write } from '@stak/table';
import { type Base, inSeconds, isoTime } from '../deps.ts';
import { organisationDomain } from '../schema.ts';
import * as limits from './limits.ts';
import { mailsDue, type OutgoingMail, outgoingMail } from './tables.ts';
import { brandOf, contentOf, isRequest, type MailKind } from './texts.ts';

type NewMail = {
  kind: MailKind;
  to: string;
  userId?: string;
  details?: Readonly<Record<string, string>>;
  token?: string; // for the link in the mail
  keptS?: number; // how long the mail is useful
  atMs?: number; // when it is due; now by default
};

// A mail is written in the transaction of the operation that causes it, and sent by the worker that claims it. If a
// worker crashes after sending, it is sent again with the same Message-ID.
export type Outbox = {
  isOpen: boolean; // whether this server sends mail at all
  // Steps for a transaction. Empty if this server sends no mail.
  steps(...mails: readonly NewMail[]): Record<string, WriteStep>;
  // Wakes this process's worker. Call it after the transaction.
  wake(): void;
  // Sends what is due and returns when the next one is.
  sendDue(signal: AbortSignal): Promise<number>;
  workers: readonly Worker[];
};

export type MailSettings = { mailer: Mailer; brand: Brand };

type OutboxDeps = Base & {
  sealer: Sealer;
  owners: Owners;
  random: Random;
  mail: MailSettings | undefined;
  // Resolves a request to the steps that replace it with mails, or to none. `token` is the request's token, or empty.
  resolve(request: OutgoingMail, token: string): Promise<Readonly<Record<string, WriteStep>>>;
};

type Due = OutgoingMail & { nextAtMs: number };

type Key = { userId: string; mailId: string };
const sealLocation = ({ userId, mailId }: Key) => `ferryhook-main/USER#${userId}/MAIL#${mailId}/sealedToken`;

export function createOutbox(deps: OutboxDeps): Outbox {
  const { clock, mail } = deps;
  const notifier = createNotifier(clock);
  const sendDue = (signal: AbortSignal) => (mail ? sendRound(deps, mail, signal) : Promise.resolve(Infinity));
  const worker: Worker = {
    name: 'accounts-mail',
    async run(signal) {
      const gone = watchGone(deps.owners, notifier.notify);
      try {
        while (!signal.aborted) {
          await gone.check(() => releaseGone(deps));
          const nextMs = await sendDue(signal);
          await notifier.wait(Math.min(limits.pollMs, Math.max(0, nextMs - clock.now())), signal);
        }
      } finally {
        gone.stop();
        await mail?.mailer.close();
      }
    },
  };
  return {
    isOpen: mail !== undefined,
    steps: (...mails) =>
      mail === undefined
        ? {}
        : Object.fromEntries(
            mails
              .filter(isReachable)
              .map(one => entryOf(deps, one))
              .map(entry => [`mail ${entry.kind} ${entry.mailId}`, write.put(outgoingMail, entry)]),
          ),
    wake: notifier.notify,
    sendDue,
    workers: mail ? [worker] : [],
  };
}

// People who came through an organisation's provider have no address that is known to be theirs.
const isReachable = ({ to }: NewMail): boolean => !to.endsWith(organisationDomain);

function entryOf({ clock, ids, sealer }: OutboxDeps, mail: NewMail): OutgoingMail {
  const mailId = ids.next('mal');
  const { userId = mailId } = mail;
  const nowMs = clock.now();
  const details = Object.entries(mail.details ?? {}).map(([name, text]) => [
    name,
    cutText(text, limits.detailChars),
  ]);
  return {
    mailId,
    userId,
    kind: mail.kind,
    to: mail.to,
    details: Object.fromEntries(details),
    sealedToken:
      mail.token === undefined ? undefined : sealer.seal(mail.token, sealLocation({ userId, mailId })),
    nextAtMs: mail.atMs ?? nowMs,
    fence: 0,
    attempts: 0,
    createdAt: isoTime(nowMs),
    expiresAt: inSeconds(mail.atMs ?? nowMs) + (mail.keptS ?? limits.keptS),
  };
}

// Makes mails claimed by a crashed process due now instead of when their leases end.
async function releaseGone({ store, clock, owners }: OutboxDeps): Promise<void> {
  const nowMs = clock.now();
  const range = { after: { nextAtMs: nowMs }, to: { nextAtMs: nowMs + limits.leaseMs } };
  for await (const { userId, mailId } of store.all(mailsDue, {}, range)) {
    const claimed = await store.get(outgoingMail, { userId, mailId }, { consistent: true });
    if (claimed?.owner === undefined || !(await owners.isGone(claimed.owner))) continue;
    const change = { set: { nextAtMs: nowMs }, remove: ['owner'] as const };
    const options = { if: { fence: claimed.fence, owner: claimed.owner }, current: claimed };
    await ignoreLostLease(
      store.update(outgoingMail, { userId, mailId }, change, { ...options, pattern: 'take over a mail' }),
    );
  }
}

async function sendRound(deps: OutboxDeps, mail: MailSettings, signal: AbortSignal): Promise<number> {
  while (!signal.aborted) {
    const { items } = await deps.store.query(mailsDue, {}, { limit: limits.batch });
    const nowMs = deps.clock.now();
    const due = items.filter(item => (item.nextAtMs ?? 0) <= nowMs) as Due[];
    const handled = await Promise.all(due.map(item => handleOne(deps, mail, item)));
    // A delayed index lists mails that others have claimed. Wait instead of reading it again at once.
    if (!handled.includes(true))
      return items.find(item => (item.nextAtMs ?? 0) > nowMs)?.nextAtMs ?? nowMs + limits.pollMs;
  }
  return Infinity;
}

// Returns true if this worker claimed and handled the mail.
async function handleOne(deps: OutboxDeps, mail: MailSettings, seen: Due): Promise<boolean> {
  const mine = await claim(deps, seen);
  if (!mine) return false;
  const { userId, mailId, fence } = mine;
  const key = { userId, mailId };
  try {
    if (isRequest(mine.kind)) {
      const done = write.delete(outgoingMail, key, { if: { fence } });
      const steps = await deps.resolve(mine, tokenOf(deps, mine));
      await ignoreLostLease(
        deps.store.transact({ done, ...steps }, { pattern: 'resolve a request for mail' }),
      );
      return true;
    }
    const outcome = await send(deps, mail, mine);
    if (outcome.status === 'refused') await giveUp(deps, mine, outcome.detail);
    else await ignoreLostLease(deps.store.delete(outgoingMail, key, { if: { fence } }));
  } catch (error) {
    await giveBack(deps, mine, error);
  }
  return true;
}

// Hides the mail from other workers until the lease ends. If this worker crashes, another one takes over then.
async function claim({ store, clock, owners }: OutboxDeps, seen: Due): Promise<OutgoingMail | undefined> {
  const { userId, mailId, fence, nextAtMs } = seen;
  const key = { userId, mailId };
  if (seen.expiresAt <= inSeconds(clock.now())) {
    await ignoreLostLease(store.delete(outgoingMail, key, { if: { fence, nextAtMs } }));
    return undefined;
  }
  const set = { nextAtMs: clock.now() + limits.leaseMs, fence: fence + 1, owner: owners.next() };
  const options = { if: { fence, nextAtMs }, current: seen, pattern: 'claim mail' };
  return ignoreLostLease(store.update(outgoingMail, key, { set }, options));
}

const tokenOf = ({ sealer }: OutboxDeps, { sealedToken, ...key }: OutgoingMail): string =>
  sealedToken === undefined ? '' : sealer.openText(sealedToken, sealLocation(key));

async function send(
  deps: OutboxDeps,
  { mailer, brand }: MailSettings,
  mail: OutgoingMail,
): Promise<MailOutcome> {
  const { clock } = deps;
  const { mailId, kind, to, details } = mail;
  const token = tokenOf(deps, mail);
  const over = new AbortController();
  const late = clock.sleep(limits.sendMs, over.signal).then(() => {
    throw new Error('the mail was not taken in time');
  });
  late.catch(() => {});
  try {
    const rendered = renderMail(brandOf(brand, details), contentOf(kind, { brand, details, token }));
    return await Promise.race([mailer.send({ id: mailId, to, ...rendered }), late]);
  } finally {
    over.abort();
  }
}

async function giveBack(deps: OutboxDeps, mine: OutgoingMail, failure: unknown): Promise<void> {
  const { store, clock, random, log } = deps;
  const { userId, mailId, fence, kind } = mine;
  // A throttled or unavailable store does not count as a failed attempt of the mail.
  const attempts = mine.attempts + (isUnavailable(failure) ? 0 : 1);
  const message = failure instanceof Error ? failure.message : String(failure);
  if (attempts >= limits.attempts) return giveUp(deps, mine, message);
  log.warn({ err: failure, mailId, kind, attempts }, 'a mail could not be sent; it is tried again');
  const backoff = { firstMs: limits.retryFirstMs, mostMs: limits.retryMostMs };
  const nextAtMs = clock.now() + backoffMs(attempts, backoff, random, 'half');
  const set = { attempts, nextAtMs, failure: cutText(message, limits.failureChars) };
  const options = { if: { fence }, current: mine, pattern: 'mail failed' };
  await ignoreLostLease(store.update(outgoingMail, { userId, mailId }, { set, remove: ['owner'] }, options));
}

// Removes the mail from the index and keeps it for inspection for a while, without its secret.
async function giveUp({ store, log }: OutboxDeps, mine: OutgoingMail, why: string): Promise<void> {
  const { userId, mailId, fence, kind } = mine;
  log.error({ mailId, kind, why }, 'a mail was given up');
  const change = {
    set: { attempts: mine.attempts + 1, failure: cutText(why, limits.failureChars) },
    remove: ['nextAtMs', 'owner', 'sealedToken'] as const,
  };
  const options = { if: { fence }, current: mine, pattern: 'mail given up' };
  await ignoreLostLease(store.update(outgoingMail, { userId, mailId }, change, options));
}

async function ignoreLostLease<T>(writing: Promise<T>): Promise<T | undefined> {
  try {
    return await writing;
  } catch (error) {
    const isLost = tableErrors.includes(error) && error.code === 'table.condition_failed';
    if (isLost || failedStep(error)?.step === 'done') return undefined;
    throw error;
  }
}
