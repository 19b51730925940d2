import { seededRandom } from '@stak/kit';
import { findSend } from '../../src/publish/send-records.ts';
import { inboxCategories } from '../../src/tables.ts';
import { type Command, type Plain, users } from './commands.ts';
import { CrashError } from './faults.ts';
import { type Fixture, handleRecords } from './fixture.ts';
import { Model, type Policy, type Sent } from './model.ts';

type Pending = { sent: Sent; hostId: string; delivered: number };
type Publishing = { uids?: string[]; category?: string; ttl: number; delay?: number };

const origin = { sender: 'usr_1' };

// Does to the inbox and to the model what a history says.
export class Actor {
  readonly model: Model;
  readonly #fixture: Fixture;
  readonly #sent: { id: string; hostId: string }[] = [];
  readonly #pending: Pending[] = []; // written down, and not yet delivered to all
  readonly #holders = new Map<string, string>(); // by host id: the last send that has it
  #calls = 0;
  #number = 0;

  constructor(fixture: Fixture, policy: Policy) {
    this.#fixture = fixture;
    this.model = new Model(policy, fixture.now);
  }

  // The processes take turns, so neither can rely on what it remembers.
  inbox = () => this.#fixture.processes[this.#calls++ % 2]!;

  async run(command: Command): Promise<void> {
    if (command.do === 'crash') return this.#fixture.faults.arm(command.write, command.after);
    if (command.do === 'together') await this.#together(command);
    else await this.#do(command);
    this.#fixture.faults.disarm();
  }

  async #do(command: Plain): Promise<void> {
    const { model } = this;
    switch (command.do) {
      case 'publish':
      case 'broadcast':
        await this.#publish(command, command.repeats);
        return;
      case 'schedule':
        await this.#publish(command, 0);
        return;
      case 'correct':
        return this.#correct(command);
      case 'bulk':
        for (const message of command.messages) await this.#publish(message, message.repeats);
        return;
      case 'mark': {
        const ids = this.#pickAll(command.picks);
        const missing = ids.filter(id => !model.find(command.uid, id));
        model.mark(command.uid, ids, command.as);
        const marked = await this.#again(() =>
          this.inbox().operations.mark(this.#user(command.uid), ids, { kind: command.as as 'read' }),
        );
        if (marked.missing.toSorted().join() !== missing.toSorted().join())
          throw new Error('other messages were missing');
        return;
      }
      case 'snooze': {
        const [id] = this.#pickAll([command.pick]);
        const until = this.#seconds() + command.seconds;
        const copy = id === undefined ? undefined : model.find(command.uid, id);
        if (!copy || id === undefined || copy.sent.expiredat <= until) return;
        model.mark(command.uid, [id], 'snooze', until);
        await this.#again(() =>
          this.inbox().operations.mark(this.#user(command.uid), [id], { kind: 'snooze', until }),
        );
        return;
      }
      case 'markAll': {
        const at = (offset?: number) => (offset === undefined ? undefined : this.#seconds() + offset);
        const span = { since: at(command.since), as_of: at(command.as_of), category: command.category };
        model.markAll(command.uid, command.as, span);
        await this.#again(() =>
          this.inbox().operations.markAll(this.#user(command.uid), { as: command.as, ...span }),
        );
        return;
      }
      case 'redact':
        return this.#redact(command.pick, command.byHostId);
      case 'deleteCategory':
        return this.#deleteCategory(command.category);
      case 'join':
        return this.#join(command.uid);
      case 'advance':
        return this.#fixture.advance(command.ms);
      case 'sweep':
        return this.#fixture.sweep(command.lag);
      case 'runDue':
        // Who comes first, a new user or a message to everyone, would be anybody's guess.
        if (this.#pending.some(({ sent }) => !sent.recipients))
          for (const { sent } of this.#pending)
            for (const uid of sent.recipients ?? []) await this.#join(uid);
        await this.#again(() => this.inbox().operations.runDue());
        return this.#learnDelivered();
      case 'records': {
        const records = await this.#fixture.readRecords();
        const all = command.twice ? [...records, ...records] : records;
        await this.#again(() => handleRecords(this.inbox(), shuffled(all, command.seed)));
      }
    }
  }

  async #together({ all, reads }: Extract<Command, { do: 'together' }>): Promise<void> {
    // Who comes first, a new user or a message to everyone, would be anybody's guess.
    for (const user of users) await this.#join(user);
    const ids = this.#pickAll(reads);
    const uid = 'ann';
    this.model.mark(uid, ids, 'read');
    await Promise.all([
      ...all.map(one => this.#publish(one, one.repeats)),
      ...ids.map(id =>
        this.#again(() => this.inbox().operations.mark(this.#user(uid), [id], { kind: 'read' })),
      ),
    ]);
  }

  async #join(uid: string): Promise<void> {
    this.model.join(uid);
    await this.#again(() => this.inbox().operations.join(this.#user(uid)));
  }

  // A crash is followed by another try, in the other process.
  async #again<T>(attempt: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await attempt();
      } catch (error) {
        if (!(error instanceof CrashError)) throw error;
        this.#fixture.faults.disarm();
      }
    }
  }

  // The host's id of what was taken back, or has expired, is free; that of anything else is not.
  async #correct({ pick, ...message }: Extract<Plain, { do: 'correct' }>): Promise<void> {
    const found = this.#picked(pick);
    if (!found) return;
    const { redacted, expiredat } = this.model.sent.get(this.#holders.get(found.hostId)!)!;
    const isFree = redacted || expiredat * 1000 <= this.#fixture.now();
    const outcome = await this.#publish(message, 0, found.hostId).catch(
      (error: { code?: string }) => error.code,
    );
    if (outcome === 'refused') return;
    if (outcome !== (isFree ? 'sent' : 'inbox.host_system_id_taken'))
      throw new Error(`correction: ${outcome}`);
  }

  async #publish(
    { uids, category, ttl, delay }: Publishing,
    repeats: number,
    hostId = `host ${++this.#number}`,
  ): Promise<'sent' | 'refused'> {
    // Every third is so large that several recipients share it.
    const body = 'text'.repeat(this.#sent.length % 3 ? 1 : 20_000);
    const send_at = delay === undefined ? undefined : this.#seconds() + delay;
    const draft = {
      message: { title: `${hostId}, ${this.#sent.length}`, body },
      host_system_id: hostId,
      ttl: `${ttl}s`,
      ...(category && { taxonomy: { category } }),
      ...(send_at !== undefined && { send_at }),
    };
    const publishOnce = () => {
      const { operations } = this.inbox();
      return uids
        ? operations.publish(this.#fixture.inboxId, { ...draft, uids }, origin)
        : operations.broadcast(this.#fixture.inboxId, draft, origin);
    };
    if (await this.#isBeingDeleted(category)) {
      const code = await this.#again(publishOnce).catch((error: { code?: string }) => error.code);
      if (code !== 'inbox.category_being_deleted') throw new Error(`published there: ${code}`);
      return 'refused';
    }
    const published = await this.#again(publishOnce);
    for (let i = 0; i < repeats; i++) {
      const repeated = await this.#again(publishOnce);
      if (repeated.send.id !== published.send.id || repeated.isNew) throw new Error('it was sent again');
    }
    const { id, expiredat, status } = published.send;
    const sent: Sent = { id, category, body, expiredat, recipients: uids, redacted: false };
    this.#sent.push({ id, hostId });
    this.#holders.set(hostId, id);
    this.model.sent.set(id, sent);
    if (status === 'sent') this.#commit(sent);
    else this.#pending.push({ sent, hostId, delivered: 0 });
    return 'sent';
  }

  #commit(sent: Sent): void {
    if (!sent.recipients) this.model.broadcast(sent);
    else for (const uid of sent.recipients) this.model.deliver(sent, uid);
  }

  // How far the worker got is what it has written down; the copies have to agree.
  async #learnDelivered(): Promise<void> {
    const { store, inboxId } = this.#fixture;
    for (const pending of this.#pending) {
      const { sent } = pending;
      const found = await findSend({ store }, inboxId, sent.id);
      if (!found) continue;
      if (!sent.recipients) {
        if (found.status === 'sent' && pending.delivered++ === 0) this.model.broadcast(sent);
        continue;
      }
      for (; pending.delivered < found.delivered; pending.delivered++)
        this.model.deliver(sent, sent.recipients[pending.delivered]!);
    }
  }

  async #redact(pick: number, byHostId: boolean): Promise<void> {
    const picked = this.#picked(pick);
    if (!picked) return;
    const { hostId } = picked;
    const id = byHostId ? this.#holders.get(hostId)! : picked.id;
    const isThere = this.model.sent.get(id)!.expiredat * 1000 > this.#fixture.now();
    // The host's id of a cancelled send is free, also when the answer to the cancelling was lost.
    const isCancelled = async () =>
      (await findSend(this.#fixture, this.#fixture.inboxId, id))?.status === 'cancelled';
    const attempt = () =>
      byHostId
        ? this.inbox().operations.redactHostId(this.#fixture.inboxId, hostId)
        : this.inbox().operations.redact(this.#fixture.inboxId, id);
    await this.#again(attempt).catch(async (error: { code?: string }) => {
      const isGone =
        error.code === 'inbox.send_not_found' && (!isThere || (byHostId && (await isCancelled())));
      if (!isGone) throw error;
    });
    this.model.redact(id);
  }

  // From the answer on nobody has its messages. What was not yet delivered will not be.
  async #deleteCategory(category: string): Promise<void> {
    const outcome = await this.#again(() =>
      this.inbox().operations.deleteCategory(this.#fixture.inboxId, category),
    ).then(
      () => 'deleted',
      (error: { code?: string }) => error.code,
    );
    const all = [...this.model.sent.values()].filter(one => one.category === category);
    const isKnown = all.some(one => !one.redacted && one.expiredat * 1000 > this.#fixture.now());
    if (outcome !== 'deleted' && (isKnown || outcome !== 'inbox.category_not_found'))
      throw new Error(`deletion: ${outcome}`);
    for (const { id } of all) this.model.redact(id);
  }

  // What is being deleted is what is written down.
  async #isBeingDeleted(category: string | undefined): Promise<boolean> {
    const { store, inboxId } = this.#fixture;
    const known = await store.get(inboxCategories, inboxId, { consistent: true });
    return category !== undefined && (known?.deleting?.includes(category) ?? false);
  }

  #pickAll = (picks: readonly number[]): string[] => [
    ...new Set(picks.flatMap(pick => this.#picked(pick)?.id ?? [])),
  ];
  #picked = (pick: number) => this.#sent.at(pick % Math.max(1, this.#sent.length));
  #user = (uid: string) => ({ ...this.#fixture.inboxId, uid });
  #seconds = () => Math.floor(this.#fixture.now() / 1000);
}

function shuffled<T>(list: readonly T[], seed: number): T[] {
  const random = seededRandom(seed);
  return list
    .map(value => ({ value, order: random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ value }) => value);
}
