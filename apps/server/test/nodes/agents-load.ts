import { askAgain, make } from '../crash/server.ts';
import type { Cluster } from './cluster.ts';
import type { Work } from './load.ts';

// People who write to an agent, two at a time in one conversation. Rules answer. Each message is sent with a key until
// there is an answer, and has to be answered once and counted once.

const base = '/v1/tenants/acme';
const conversations = ['c0', 'c1', 'c2'];
type Said = { role: string; content: string };

const together = 2;
const pauseMs = 400;
const patienceMs = 500; // between two looks at an answer that another server makes

export async function prepareAgents(cluster: Cluster, token: string, kills: () => number): Promise<Work> {
  await make(cluster, `${base}/settings`, {
    method: 'PATCH',
    send: { messages_per_day: 1_000_000 },
    token,
  });
  const said = new Map<string, string>(); // by text: the conversation
  let sent = 0;

  async function say(conversation: string): Promise<void> {
    const text = `question-${++sent}`;
    const send = { content: text, user_id: `user-${conversation}` };
    said.set(text, conversation);
    for (let attempt = 0; ; attempt++) {
      const path = `${base}/conversations/${conversation}/messages`;
      const { status, json } = await askAgain(cluster, path, { send, token, key: text });
      if (status < 300) return;
      if (attempt === 20) throw new Error(`${path}: ${status} ${JSON.stringify(json)}`);
      await new Promise(resolve => setTimeout(resolve, patienceMs));
    }
  }

  async function countTurns(conversation: string): Promise<{ texts: string[]; wrong: string[] }> {
    const texts: string[] = [];
    const numbers: number[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const after: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const path = `${base}/conversations/${conversation}/messages?limit=100${after}`;
      const { json } = await askAgain(cluster, path, { token });
      for (const { seq, messages } of json.data as { seq: number; messages: Said[] }[]) {
        numbers.push(seq);
        for (const { role, content } of messages) if (role === 'user') texts.push(content);
      }
      cursor = json.next_cursor as string | null;
    }
    const inOrder = numbers.toSorted((a, b) => a - b);
    const isWhole = inOrder.every((seq, i) => seq === i + 1);
    return { texts, wrong: isWhole ? [] : [`the turns of ${conversation} are ${inOrder.join(', ')}`] };
  }

  return {
    name: 'agents',
    async send(isOver) {
      for (let round = 0; !isOver(); round++) {
        const conversation = conversations[round % conversations.length]!;
        await Promise.all(Array.from({ length: together }, () => say(conversation)));
        await new Promise(resolve => setTimeout(resolve, pauseMs));
      }
    },
    async check() {
      const wrong: string[] = [];
      let stored = 0;
      for (const conversation of conversations) {
        const found = await countTurns(conversation);
        wrong.push(...found.wrong);
        stored += found.texts.length;
        const expected = [...said].flatMap(([text, of]) => (of === conversation ? text : []));
        if (found.texts.toSorted().join() !== expected.toSorted().join())
          wrong.push(
            `${expected.length} messages to ${conversation} were taken, ${found.texts.length} are in its turns`,
          );
      }
      const { json } = await askAgain(cluster, `${base}/agent-usage`, { token });
      const counted = (json.total as { messages: number }).messages;
      // A server that is killed between the count and the message has counted one too many, never one too few.
      if (counted < stored || counted > stored + together * kills())
        wrong.push(`usage is ${counted} messages, and ${stored} are stored`);
      return wrong;
    },
  };
}
