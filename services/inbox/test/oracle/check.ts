import { deepStrictEqual } from 'node:assert';
import type { MailboxId } from '../../src/index.ts';
import type { Actor } from './actor.ts';
import { users } from './commands.ts';
import type { Fixture } from './fixture.ts';
import { checkPublic, checkUser, type PublicCheck } from './stored.ts';

export type Tally = { checks: number };

const views = [
  { archived: false, snoozed: false },
  { archived: true, snoozed: false },
  { archived: false, snoozed: true },
];

// Every user's feed, page by page, and counts, shown and stored, as the model has them.
export async function checkAll(
  fixture: Fixture,
  actor: Actor,
  last: PublicCheck,
  tally: Tally,
): Promise<void> {
  await checkPublic(fixture, actor, last);
  for (const uid of users) {
    const user = { ...fixture.inboxId, uid };
    deepStrictEqual(sorted(await actor.inbox().operations.counts(user)), sorted(actor.model.counts(uid)));
    await checkUser(fixture, actor, uid);
    tally.checks += 1;
    for (const view of views) {
      const shown = await readAll(fixture, actor, user, view);
      deepStrictEqual(shown, actor.model.feed(uid, view), `the feed of ${uid}`);
      await checkSent(actor, user, view);
      tally.checks += 1;
    }
  }
}

// Numbers of pages are small and differ, so that every border is met.
async function readAll(fixture: Fixture, actor: Actor, user: MailboxId, view: (typeof views)[0]) {
  const shown = [];
  let before: string | undefined;
  do {
    const limit = 2 + ((shown.length + fixture.faults.writes()) % 5);
    const page = await actor.inbox().operations.feed(user, view, { limit, before });
    for (const { id, read, seen, archived, message } of page.items) {
      shown.push({ id, read, seen, archived });
      if (message.body !== actor.model.sent.get(id)?.body) throw new Error(`${id} has another body`);
    }
    before = page.before;
  } while (before !== undefined);
  return shown;
}

// What is sent may have been kept since the last check, and is asked for in the same words each time.
async function checkSent(actor: Actor, user: MailboxId, view: (typeof views)[0]): Promise<void> {
  const { feed, page } = actor.inbox().operations;
  const { items } = await feed(user, view, { limit: 3 });
  const sent = await page(user, view, { limit: 3 });
  deepStrictEqual(JSON.parse(sent.items), JSON.parse(JSON.stringify(items)), `the page of ${user.uid}`);
}

const sorted = (counts: { categories: object }) => ({
  ...counts,
  categories: Object.fromEntries(Object.entries(counts.categories).sort(([a], [b]) => (a < b ? -1 : 1))),
});
