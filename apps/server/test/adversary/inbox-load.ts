import type { Fixture, Load, Violation } from './fixture.ts';

// Messages to some users and to everyone, which users mark as read and as unread. Each message arrives once, and every
// stored count says what the lists of the users say.

const users = ['u0', 'u1', 'u2', 'u3'];
const inbox = '/v1/tenants/acme/inboxes/news';

type Send = { id: string; uids: readonly string[]; expiresMs?: number };
type Shown = { id: string; read: boolean; message: { title: string } };

export async function createInboxLoad(fixture: Fixture): Promise<Load> {
  const { call, make, list, random, below, pick, nowMs } = fixture;
  await make('PUT', inbox, { send: { title: 'News' } });
  for (const uid of users) await make('PUT', `${inbox}/users/${uid}`, {});
  const sends = new Map<string, Send>(); // by title
  const isRead = new Set<string>();
  let sent = 0;

  const publish = async () => {
    const title = `message-${++sent}.`;
    const isToAll = random() < 0.3;
    const some = users.filter(() => random() < 0.5);
    const uids = isToAll || some.length === 0 ? users : some;
    const nowS = Math.ceil(nowMs() / 1000);
    const expiredat = random() < 0.2 ? nowS + 3 + below(8) : undefined;
    const send_at = expiredat === undefined && random() < 0.2 ? nowS + 1 + below(6) : undefined;
    const { status, body } = await call('POST', `${inbox}/${isToAll ? 'broadcasts' : 'messages'}`, {
      send: {
        message: { title, body: 'text' },
        host_system_id: title,
        ...(!isToAll && { uids }),
        ...(expiredat !== undefined && { expiredat }),
        ...(send_at !== undefined && { send_at }),
      },
      key: title,
    });
    // A server that died after it had sent the message leaves it to the next one to say so.
    if (status >= 300 && status !== 409) throw new Error(`${title}: ${status} ${JSON.stringify(body)}`);
    const isKept = expiredat === undefined && send_at === undefined;
    sends.set(title, {
      id: (isKept && body.id) || '', // those that are marked
      uids,
      ...(expiredat !== undefined && { expiresMs: expiredat * 1000 }),
    });
  };

  // What one user does, one thing after the other.
  const reader = (uid: string) => async () => {
    const mine = [...sends.values()].filter(({ id, uids }) => id !== '' && uids.includes(uid));
    if (mine.length === 0) return;
    const ids = [...new Set([pick(mine).id, pick(mine).id, mine[below(mine.length)]!.id])];
    const as = random() < 0.7 ? 'read' : 'unread';
    // On two devices at the same time, now and then.
    const mark = () => make('POST', `${inbox}/users/${uid}/${as}`, { send: { ids } });
    await Promise.all([mark(), random() < 0.3 ? mark() : undefined]);
    for (const id of ids)
      if (as === 'read') isRead.add(`${uid} ${id}`);
      else isRead.delete(`${uid} ${id}`);
  };

  async function checkUser(uid: string): Promise<Violation[]> {
    const found: Violation[] = [];
    const shown = await list<Shown>(`${inbox}/users/${uid}/messages`);
    const titles = shown.map(({ message }) => message.title);
    for (const [title, { uids, expiresMs = Infinity }] of sends) {
      const times = titles.filter(one => one === title).length;
      if (times !== (uids.includes(uid) && nowMs() < expiresMs ? 1 : 0))
        found.push({
          what: `${uid} has ${title} ${times} times`,
          about: [title, `${uid}"`],
          isFinal: times > 1,
        });
    }
    if (titles.some(title => !sends.has(title)))
      found.push({ what: `${uid} has a message of nobody`, about: [uid] });
    for (const { id, read } of shown)
      if (read !== isRead.has(`${uid} ${id}`))
        found.push({ what: `${uid} marked ${id}, and it is ${read ? 'read' : 'unread'}`, about: [id] });
    const unread = shown.filter(one => !one.read).length;
    const { body: counts } = await call('GET', `${inbox}/users/${uid}/counts`);
    if (counts.total !== shown.length || counts.unread !== unread)
      found.push({
        what: `${uid} has ${shown.length} messages, ${unread} unread, and counts of ${counts.total} and ${counts.unread}`,
        about: [`users/${uid}`],
      });
    return found;
  }

  return {
    name: 'inbox',
    users: [publish, ...users.map(reader)],
    async check() {
      const found = (await Promise.all(users.map(checkUser))).flat();
      for (const { id } of sends.values()) {
        if (id === '') continue;
        const readers = users.filter(uid => isRead.has(`${uid} ${id}`)).length;
        const { body } = await call('GET', `${inbox}/sends/${id}`);
        if (body.read !== readers)
          found.push({ what: `${id} was read by ${readers}, and counts ${body.read}`, about: [id] });
      }
      return found;
    },
  };
}
