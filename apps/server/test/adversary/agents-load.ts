import type { Fixture, Load, Violation } from './fixture.ts';

// People write to agents, several to one conversation. Some ask for an action, which two people approve or refuse at
// the same time. Every message is answered once and counted once, and what was approved is done once.

const base = '/v1/tenants/acme';
const limited = '/v1/tenants/limited';
const quota = 5;
const open = ['c0', 'c1'];
const waitingMost = 20; // messages of one conversation

type Turn = { seq: number; messages: { role: string; content: string }[] };
type Waiting = { approval_id: string; conversation_id: string };

export async function createAgentsLoad(fixture: Fixture): Promise<Load> {
  const { call, make, list, random, below, pick, unanswered } = fixture;
  for (const [tenant, messages_per_day] of [
    [base, 10_000],
    [limited, quota],
  ] as const) {
    const { etag } = await call('GET', `${tenant}/settings`);
    const send = { enabled_skills: ['create_task'], messages_per_day };
    await make('PATCH', `${tenant}/settings`, { send, headers: { 'If-Match': etag } });
  }
  const said = new Map<string, { conversation: string; status: number }>(); // by text
  const decided = new Map<string, boolean>(); // by approval
  const admitted = new Set<string>(); // by the tenant with a quota
  const conversations = new Set<string>();
  let texts = 0;

  const say = async () => {
    const isAction = random() < 0.2;
    const n = ++texts;
    const content = isAction ? `create task: job-${n}.` : `question-${n}.`;
    await sayIn(pick(open), content);
  };

  const sayIn = async (conversation: string, content: string) => {
    conversations.add(conversation);
    said.set(content, { conversation, status: 0 });
    const { status, body } = await call('POST', `${base}/conversations/${conversation}/messages`, {
      send: { content },
      key: content.replaceAll(' ', '-'),
    });
    if (![200, 202, 409].includes(status)) throw new Error(`${content}: ${status} ${JSON.stringify(body)}`);
    said.set(content, { conversation, status });
  };

  // More at once than a conversation holds while it waits for a decision.
  const flood = async () => {
    if (random() > 0.08) return;
    const conversation = `f${++texts}`;
    await sayIn(conversation, `create task: job-${texts}.`);
    await Promise.all(
      Array.from({ length: waitingMost + 3 }, () => sayIn(conversation, `question-${++texts}.`)),
    );
  };

  const askLimited = async () => {
    await Promise.all(Array.from({ length: 1 + below(3) }, ask));
  };

  const ask = async () => {
    const content = `limited-${++texts}.`;
    const { status } = await call('POST', `${limited}/conversations/q${below(2)}/messages`, {
      send: { content },
      key: content,
    });
    if (status === 200 || status === 202) admitted.add(content);
  };

  const decide = async ({ approval_id, conversation_id }: Waiting, approved: boolean) => {
    const path = `${base}/conversations/${conversation_id}/approvals/${approval_id}`;
    const { status, body } = await call('POST', path, { send: { approved } });
    if (status === 200 && !decided.has(approval_id)) decided.set(approval_id, body.status === 'approved');
  };

  const approve = async () => {
    const waiting = await list<Waiting>(`${base}/approvals`);
    if (waiting.length === 0) return;
    const one = pick(waiting);
    await Promise.all([decide(one, random() < 0.8), decide(one, random() < 0.8)]);
  };

  async function checkConversation(conversation: string): Promise<{ found: Violation[]; stored: number }> {
    const found: Violation[] = [];
    const turns = await list<Turn>(`${base}/conversations/${conversation}/messages`);
    const numbers = turns.map(({ seq }) => seq).toSorted((a, b) => a - b);
    if (numbers.some((seq, i) => seq !== i + 1))
      found.push({ what: `the turns of ${conversation} are ${numbers.join(', ')}`, about: [conversation] });
    const asked = turns.flatMap(({ messages }) => messages.filter(({ role }) => role === 'user'));
    const times = new Map<string, number>();
    for (const { content } of asked) times.set(content, (times.get(content) ?? 0) + 1);
    for (const [text, one] of said) {
      if (one.conversation !== conversation) continue;
      const most = times.get(text) ?? 0;
      if (most > 1 || (most === 0 && [200, 202].includes(one.status)))
        found.push({
          what: `${text} is in ${most} turns of ${conversation}`,
          about: [text, conversation],
          isFinal: most > 1,
        });
      times.delete(text);
    }
    for (const { seq, messages } of turns)
      if (messages.filter(({ role }) => role === 'user').length > waitingMost)
        found.push({
          what: `turn ${seq} of ${conversation} answers too many messages`,
          about: [conversation],
        });
    for (const text of times.keys())
      found.push({ what: `${conversation} has ${text}, which nobody said`, about: [text] });
    return { found, stored: asked.length };
  }

  return {
    name: 'agents',
    users: [say, say, approve, askLimited, flood],
    async check() {
      const found: Violation[] = [];
      // Whoever is still asked decides now.
      for (const one of await list<Waiting>(`${base}/approvals`)) await decide(one, true);
      let stored = 0;
      for (const conversation of conversations) {
        const one = await checkConversation(conversation);
        found.push(...one.found);
        stored += one.stored;
      }
      for (const { pk, waiting_count, waiting } of await fixture.items('conversations'))
        if (typeof waiting_count === 'number' && (waiting_count !== 0 || waiting !== undefined))
          found.push({ what: `${pk} counts ${waiting_count} messages that wait`, about: [String(pk)] });
      const { body: usage } = await call('GET', `${base}/agent-usage`);
      const counted = usage.total.messages as number;
      // A server that dies between the count and the message has counted one too many, never one too few.
      if (counted < stored || counted > stored + unanswered())
        found.push({ what: `usage is ${counted} messages, and ${stored} are stored`, about: ['agents'] });
      if (admitted.size > quota)
        found.push({
          what: `${admitted.size} messages were taken of ${quota} a day`,
          about: [...admitted],
          isFinal: true,
        });
      const tasks = await list<{ title: string }>('/v1/tasks');
      const jobs = tasks.filter(({ title }) => title.startsWith('job-')).map(({ title }) => title);
      const approved = [...decided.values()].filter(Boolean).length;
      if (new Set(jobs).size !== jobs.length || jobs.length !== approved)
        found.push({
          what: `${approved} actions were approved, and ${jobs.length} done: ${jobs.join(' ')}`,
          about: [...decided.keys()],
        });
      return found;
    },
  };
}
