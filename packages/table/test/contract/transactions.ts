import { expect, it } from 'vitest';
import { createLedger, failedStep, ref, write } from '../../src/index.ts';
import { inbox, message, total, user } from '../example-table.ts';
import { ann, awsError, failing, impatientClock, messageOf, storeOf, type Target } from './target.ts';

const m1 = { ...ann, id: 'm1' };
const publish = (title = 'Hello') => ({
  'store the message': write.put(message, { ...messageOf('m1'), title }, { ifAbsent: true }),
  'count it': write.update(total, ann, { add: { published: 1 } }, { upsert: true }),
});

export function testTransactions(target: () => Target): void {
  it('writes everything or nothing, and reports the failed step and its reason', async () => {
    const store = storeOf(target);
    await store.transact(publish());
    const error = await store.transact(publish('Other')).catch(caught => caught);
    expect(error).toMatchObject({
      code: 'table.transaction_failed',
      message: 'nothing was written; "store the message": condition failed',
    });
    expect(failedStep(error)).toMatchObject({
      step: 'store the message',
      reason: 'condition_failed',
      current: { title: 'Hello', kind: 'UM', id: 'm1' },
    });
    expect((await store.get(total, ann))?.published).toBe(1);
    expect((await store.get(message, m1))?.title).toBe('Hello');
  });

  it('checks and deletes', async () => {
    const store = storeOf(target);
    const annUser = { tenant_key: 'acme', uid: 'ann' };
    await store.transact(publish());
    const clear = () =>
      store.transact([
        ['the user is there', write.check(user, annUser, { present: true, if: { name: 'Ann' } })],
        ['delete', write.delete(message, m1, { ifPresent: true })],
      ]);
    expect(failedStep(await clear().catch(caught => caught))?.step).toBe('the user is there');
    await store.put(user, { ...annUser, name: 'Ann' });
    await clear();
    expect(await store.get(message, m1)).toBeUndefined();
    await store.transact({ free: write.check(message, m1, { absent: true }), count: publish()['count it'] });
    expect((await store.get(total, ann))?.published).toBe(2);
  });

  it('reads several items as of one moment', async () => {
    const ledger = createLedger();
    const store = storeOf(target, { ledger });
    await store.transact(publish(), { pattern: 'publish' });
    const found = await store.transactGet(
      { message: ref(message, m1), count: ref(total, ann), none: ref(message, { ...m1, id: 'x' }) },
      { pattern: 'read both' },
    );
    expect(found).toMatchObject({ message: { title: 'Hello' }, count: { published: 1 }, none: undefined });
    expect(ledger.entries().map(({ pattern, table }) => [pattern, table])).toEqual([
      ['publish', inbox.name],
      ['read both', inbox.name],
    ]);
    expect(ledger.entries()[0]?.writeUnits).toBeGreaterThanOrEqual(target().countsHalf ? 2 : 4);
  });

  it('applies a transaction with a token once', async () => {
    const store = storeOf(target);
    const count = { 'count it': publish()['count it'] };
    const token = crypto.randomUUID();
    await store.transact(count, { token });
    await store.transact(count, { token });
    expect((await store.get(total, ann))?.published).toBe(1);
  });

  it('retries after a conflict, with jitter, and gives up in the end', async () => {
    const conflict = () =>
      awsError('TransactionCanceledException', {
        CancellationReasons: [{ Code: 'None' }, { Code: 'TransactionConflict' }],
      });
    const clock = impatientClock();
    const client = failing(target().client, 'transactWrite', 3, conflict);
    await storeOf(target, { client, clock }).transact(publish());
    expect(client.failures()).toBe(3);
    expect(clock.slept).toHaveLength(3);
    expect(new Set(clock.slept).size).toBe(3);
    expect((await storeOf(target).get(total, ann))?.published).toBe(1);

    const stuck = failing(target().client, 'transactWrite', 99, conflict);
    await expect(storeOf(target, { client: stuck, clock }).transact(publish())).rejects.toMatchObject({
      code: 'table.busy',
    });
  });

  it('does not retry what cannot succeed', async () => {
    const client = failing(target().client, 'transactWrite', 9, () =>
      awsError('TransactionCanceledException', {
        CancellationReasons: [{ Code: 'ConditionalCheckFailed' }, { Code: 'TransactionConflict' }],
      }),
    );
    const error = await storeOf(target, { client })
      .transact(publish())
      .catch(caught => caught);
    expect(error.details.failures.map((failure: { reason: string }) => failure.reason)).toEqual([
      'condition_failed',
      'conflict',
    ]);
    expect(client.failures()).toBe(1);
  });

  it('waits out throttling, and retries idempotent requests after a server error', async () => {
    const clock = impatientClock();
    const throttled = failing(target().client, 'put', 2, () => awsError('ThrottlingException'));
    await storeOf(target, { client: throttled, clock }).put(message, messageOf('m1'));
    expect(clock.slept).toHaveLength(2);
    const serverError = () => awsError('InternalServerError');
    const unsure = failing(target().client, 'put', 2, serverError);
    await storeOf(target, { client: unsure, clock }).put(message, messageOf('m2'), { ifAbsent: true });
    expect(unsure.failures()).toBe(2);
    const add = (client: typeof unsure) =>
      storeOf(target, { client, clock }).update(total, ann, { add: { published: 1 } }, { upsert: true });
    // An addition needs a token for that, which a store in the same process is spared.
    const remote = { ...target().client, mayLoseAnswers: true };
    await add(failing(remote, 'transactWrite', 2, serverError));
    const inProcess = { ...target().client, mayLoseAnswers: false };
    const local = failing(inProcess, 'update', 2, serverError);
    await expect(add(local)).rejects.toMatchObject({
      code: 'table.busy',
      cause: { name: 'InternalServerError' },
    });
    expect(local.failures()).toBe(1);
    expect(await storeOf(target).get(total, ann)).toMatchObject({ published: 1 });
  });

  it('refuses more steps than DynamoDB takes', async () => {
    const steps = Array.from(
      { length: 101 },
      (_, n) => [`${n}`, write.put(message, messageOf(`${n}`))] as const,
    );
    await expect(storeOf(target).transact(steps)).rejects.toMatchObject({ code: 'table.item_refused' });
    await expect(storeOf(target).transact({})).rejects.toMatchObject({ code: 'table.item_refused' });
  });
}
