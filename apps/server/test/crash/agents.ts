import type { Random } from '@stak/kit';
import { prepareActions } from './actions.ts';
import type { Outside } from './agents-outside.ts';
import type { Load } from './campaign.ts';
import { ask, askAgain, type CrashServer, make, signUp } from './server.ts';
import { prepareTalks } from './talks.ts';

const tenant = '/v1/tenants/crash';
const conversations = 6;
const settledWithinMs = 60_000;

type Turn = { seq: number; messages: { role: string; content: string }[] };

// Messages to a few conversations, some that make the agent act, and some that a model answers. A message that got no answer is sent again with its
// key, by another worker or after a restart, until it has one.
export async function prepareAgents(server: CrashServer, random: Random, outside: Outside): Promise<Load> {
  const token = await signUp(server);
  await make(server, '/v1/tenants', {
    send: { tenant_id: 'crash', name: 'Crash', status: 'active' },
    token,
  });
  const settings = { messages_per_day: 1_000_000 };
  await make(server, `${tenant}/settings`, { method: 'PATCH', send: settings, token });
  const actions = await prepareActions(server, token, random);
  const talks = await prepareTalks(server, token, random, outside);
  const answered = new Map<string, { conversation: string; seq: number }>();
  const accepted = new Set<string>(); // it answered, or said that it will
  let said = 0;

  async function* listTurns(conversation: string): AsyncGenerator<Turn> {
    let cursor = '';
    for (;;) {
      const path = `${tenant}/conversations/${conversation}/messages?limit=100${cursor}`;
      const { status, json } = await askAgain(server, path, { token });
      if (status === 404) return;
      yield* json.data as Turn[];
      if (json.next_cursor === null) return;
      cursor = `&cursor=${encodeURIComponent(String(json.next_cursor))}`;
    }
  }

  async function countTurns(): Promise<number> {
    let turns = 0;
    for (let c = 0; c < conversations; c++) for await (const _ of listTurns(`c${c}`)) turns += 1;
    return turns;
  }

  async function check(): Promise<{ violations: string[]; questions: number }> {
    const violations: string[] = [];
    const found = new Map<string, { conversation: string; seq: number }>();
    for (let c = 0; c < conversations; c++) {
      let last = 0;
      for await (const { seq, messages } of listTurns(`c${c}`)) {
        if (seq !== last + 1) violations.push(`c${c} has ${seq} after ${last}`);
        last = seq;
        const asked = messages
          .filter(({ role }) => role === 'user')
          .flatMap(({ content }) => content.split('\n'));
        if (!messages.some(({ role }) => role === 'assistant')) violations.push(`c${c} ${seq} has no answer`);
        for (const text of asked.filter(line => line !== '')) {
          if (found.has(text)) violations.push(`${text} was answered twice`);
          found.set(text, { conversation: `c${c}`, seq });
        }
      }
    }
    for (const text of accepted) if (!found.has(text)) violations.push(`${text} was accepted and is lost`);
    for (const [text, { conversation, seq }] of answered) {
      const at = found.get(text);
      if (at && (at.conversation !== conversation || at.seq !== seq))
        violations.push(
          `${text} was answered as ${conversation} ${seq}, and is ${at.conversation} ${at.seq}`,
        );
    }
    return { violations, questions: found.size };
  }

  return {
    acknowledged: () => accepted.size + actions.accepted() + talks.accepted(),
    async send(isOver) {
      while (!isOver()) {
        const part = random();
        if (part < 0.5) {
          await (part < 0.25 ? actions : talks).perform(isOver);
          continue;
        }
        const text = `question ${said++}`;
        const conversation = `c${Math.floor(random() * conversations)}`;
        const path = `${tenant}/conversations/${conversation}/messages`;
        for (;;) {
          const answer = await ask(server, path, {
            send: { content: text },
            token,
            key: text.replace(' ', '-'),
          });
          if (answer?.status === 200) answered.set(text, { conversation, seq: Number(answer.json.seq) });
          if (answer?.status === 200 || answer?.status === 202) accepted.add(text);
          if (answer?.status === 200 || (isOver() && answer)) break;
          await new Promise(resolve => setTimeout(resolve, 20));
        }
      }
    },
    async verify() {
      const beganMs = Date.now();
      // Nothing is added for a while: what was accepted is answered.
      let [turns, quietMs] = [await countTurns(), 0];
      while (quietMs < 3_000 && Date.now() - beganMs < settledWithinMs) {
        await new Promise(resolve => setTimeout(resolve, 500));
        const now = await countTurns();
        quietMs = now === turns ? quietMs + 500 : 0;
        turns = now;
      }
      const acted = await actions.verify();
      const talked = await talks.verify();
      const { violations, questions } = await check();
      violations.push(...acted.violations, ...talked.violations);
      const usage = await askAgain(server, `${tenant}/agent-usage`, { token });
      const counted = (usage.json.total as { messages: number }).messages;
      // One that was counted when its process was killed before it was accepted stays counted, never the reverse.
      if (counted < questions) violations.push(`${questions} questions were counted as ${counted}`);
      return {
        violations,
        summary: `${accepted.size} accepted, ${answered.size} answered to their senders, ${turns} turns, ${counted} counted; ${acted.summary}; ${talked.summary}`,
      };
    },
    close: async () => {},
  };
}
