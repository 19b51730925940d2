import type { Random } from '@stak/kit';
import type { Outside } from './agents-outside.ts';
import { ask, askAgain, type CrashServer, make } from './server.ts';

// Messages that a model answers: some make it call a tool of an MCP server, which is asked about or not, or a custom
// skill; some are talk, in conversations whose old turns are summarised. Whatever dies meanwhile, each has one answer, a
// tool that must not be called twice is not, a custom skill knows a repeated call by its id, and no turn is left out of
// the summaries or summarised twice.

type Talk = { n: number; text: string; conversation: string; decided?: string };
type Approval = { approval_id: string; conversation_id: string };
type Turn = { messages: { role: string; content: string }[] };
type Memory = { session_id: string; summary?: string | null; key_facts: { fact: string }[] };

const tenant = '/v1/tenants/talking';
const talkers = 2;
const settledWithinMs = 150_000; // a summary that met another one is tried again after a minute
const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms));

export async function prepareTalks(server: CrashServer, token: string, random: Random, outside: Outside) {
  await make(server, '/v1/tenants', {
    send: { tenant_id: 'talking', name: 'Talking', status: 'active' },
    token,
  });
  await make(server, `${tenant}/mcp-servers/shop`, { method: 'PUT', send: { url: outside.mcpUrl }, token });
  const parameters = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
  const order = { description: 'Orders.', url: outside.skillUrl, parameters };
  await make(server, `${tenant}/custom-skills/order`, { method: 'PUT', send: order, token });
  const settings = {
    messages_per_day: 1_000_000,
    memory: 'automatic',
    max_conversation_history: 4,
    enabled_skills: ['mcp_shop_pay', 'mcp_shop_note'],
    custom_skills: ['order'],
    skill_approvals: { mcp_shop_pay: 'user', mcp_shop_note: 'never' },
  };
  await make(server, `${tenant}/settings`, { method: 'PATCH', send: settings, token });
  for (let i = 0; i < talkers; i++) {
    const user = { user_id: `u${i}`, display_name: `u${i}`, role: 'member' };
    await make(server, `${tenant}/users`, { send: user, token });
    await make(server, `${tenant}/conversations`, {
      send: { conversation_id: `talk-${i}`, user_id: `u${i}` },
      token,
    });
  }
  const accepted = new Map<number, Talk>();
  let begun = 0;
  const pathOf = ({ conversation }: Talk) => `${tenant}/conversations/${conversation}`;

  async function decide(talk: Talk, approval_id: string, approved: boolean): Promise<void> {
    for (;;) {
      const answer = await ask(server, `${pathOf(talk)}/approvals/${approval_id}`, {
        send: { approved },
        token,
      });
      if (answer && answer.status < 500) {
        if (answer.status === 200) talk.decided = String(answer.json.status);
        return;
      }
      await pause(20);
    }
  }

  function begin(): Talk {
    const n = begun++;
    const kind = ['pay', 'talk', 'note', 'talk', 'order', 'talk'][n % 6]!;
    const conversation = kind === 'talk' ? `talk-${Math.floor(random() * talkers)}` : `tool-${n}`;
    return { n, text: `${kind} ${n}`, conversation };
  }

  async function perform(isOver: () => boolean): Promise<void> {
    const talk = begin();
    for (;;) {
      const answer = await ask(server, `${pathOf(talk)}/messages`, {
        send: { content: talk.text },
        token,
        key: `talk-${talk.n}`,
      });
      if (answer?.status === 200 || answer?.status === 202) {
        accepted.set(talk.n, talk);
        const [approval] = (answer.json.approvals as Approval[] | undefined) ?? [];
        if (approval && random() < 0.8) await decide(talk, approval.approval_id, random() < 0.7);
        return;
      }
      if (isOver() && answer) return;
      await pause(20);
    }
  }

  async function decideTheRest(): Promise<number> {
    const { json } = await askAgain(server, `${tenant}/approvals?limit=100`, { token });
    const waiting = json.data as Approval[];
    for (const { approval_id, conversation_id } of waiting) {
      const n = Number(conversation_id.slice('tool-'.length));
      const talk = accepted.get(n) ?? { n, text: `pay ${n}`, conversation: conversation_id };
      await decide(talk, approval_id, true);
    }
    return waiting.length;
  }

  async function turnsOf(conversation: string): Promise<Turn[]> {
    const turns: Turn[] = [];
    let cursor = '';
    for (;;) {
      const path = `${tenant}/conversations/${conversation}/messages?limit=100${cursor}`;
      const { status, json } = await askAgain(server, path, { token });
      if (status === 404) return turns;
      turns.push(...(json.data as Turn[]));
      if (json.next_cursor === null) return turns;
      cursor = `&cursor=${encodeURIComponent(String(json.next_cursor))}`;
    }
  }
  const askedIn = ({ messages }: Turn): string[] =>
    messages.filter(({ role }) => role === 'user').flatMap(({ content }) => content.split('\n'));
  const answersOf = (turns: readonly Turn[], { text }: Talk): Turn[] =>
    turns.filter(turn => askedIn(turn).includes(text));

  // Everything is answered, and what has left the windows is in the summaries.
  async function settle(): Promise<void> {
    const untilMs = Date.now() + settledWithinMs;
    for (;;) {
      const left = await decideTheRest();
      let open = 0;
      for (const talk of accepted.values())
        if (answersOf(await turnsOf(talk.conversation), talk).length === 0) open += 1;
      const late = left + open === 0 ? (await checkMemory()).late : 1;
      if (left + open + late === 0 || Date.now() > untilMs) return;
      await pause(500);
    }
  }

  async function checkMemory(): Promise<{ violations: string[]; late: number }> {
    const violations: string[] = [];
    let late = 0;
    for (let i = 0; i < talkers; i++) {
      const turns = (await turnsOf(`talk-${i}`)).length;
      const { json } = await askAgain(server, `${tenant}/users/u${i}/memory`, { token });
      const session = (json.data as Memory[]).find(({ session_id }) => session_id === `talk-${i}`);
      const last = Number(/up to (\d+)/.exec(session?.summary ?? '')?.[1] ?? 0);
      if (last > turns) violations.push(`talk-${i} is summarised up to ${last} of ${turns} turns`);
      // Turns that left the window are summarised at the latest when as many turns have come again.
      if (turns - last > 4) late += 1;
      const facts = session?.key_facts.map(({ fact }) => fact) ?? [];
      if (new Set(facts).size !== facts.length) violations.push(`talk-${i} has facts twice`);
    }
    return { violations, late };
  }

  return {
    accepted: () => accepted.size,
    perform,
    async verify(): Promise<{ violations: string[]; summary: string }> {
      await settle();
      const memory = await checkMemory();
      const violations = [...outside.violations, ...memory.violations];
      if (memory.late > 0) violations.push(`${memory.late} conversations were not summarised in time`);
      let unknown = 0;
      for (const talk of accepted.values()) {
        const found = answersOf(await turnsOf(talk.conversation), talk);
        if (found.length !== 1) violations.push(`${talk.text} was answered ${found.length} times`);
        const said = JSON.stringify(found);
        const [paid, noted] = [outside.paid.get(talk.n) ?? 0, outside.noted.get(talk.n) ?? 0];
        const orders = outside.ordered.get(talk.n)?.size ?? 0;
        if (orders > 1) violations.push(`${talk.text} was called with ${orders} ids`);
        if (said.includes(`Ordered ${talk.n}.`) && orders === 0) violations.push(`${talk.text} was not done`);
        if (paid > 1) violations.push(`${talk.text} was done ${paid} times`);
        if (talk.decided === 'refused' && paid > 0) violations.push(`${talk.text} was refused, and done`);
        if (said.includes(`Paid ${talk.n}.`) && paid !== 1) violations.push(`${talk.text} was not done`);
        if (said.includes(`Noted ${talk.n}.`) && noted === 0) violations.push(`${talk.text} was not done`);
        if (said.includes('it is not known whether')) unknown += 1;
      }
      const summary = `${accepted.size} talks: ${outside.paid.size} paid, ${outside.noted.size} noted, ${outside.ordered.size} ordered, ${unknown} of unknown outcome, ${outside.summaries()} summaries`;
      return { violations, summary };
    },
  };
}
