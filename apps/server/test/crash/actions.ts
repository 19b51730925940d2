import type { Random } from '@stak/kit';
import { ask, askAgain, type CrashServer, make } from './server.ts';

// Messages that make an agent act, each in a conversation of its own: some wait for an approval, which somebody gives or
// refuses, twice; some act at once. Whatever dies meanwhile, what was agreed to is done once.

type Action = { n: number; tenant: 'asking' | 'acting'; decided?: 'approved' | 'refused' };
type Approval = { approval_id: string; conversation_id: string };
type Turn = { messages: { role: string; content: string }[] };

const settledWithinMs = 60_000;
const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms));
const titleOf = ({ n }: Action) => `action ${n}`;

export async function prepareActions(server: CrashServer, token: string, random: Random) {
  for (const [tenant, approval] of [
    ['asking', 'user'],
    ['acting', 'never'],
  ] as const) {
    await make(server, '/v1/tenants', { send: { tenant_id: tenant, name: tenant, status: 'active' }, token });
    const send = {
      messages_per_day: 1_000_000,
      enabled_skills: ['create_task'],
      skill_approvals: { create_task: approval },
    };
    await make(server, `/v1/tenants/${tenant}/settings`, { method: 'PATCH', send, token });
  }
  const accepted = new Map<number, Action>();
  let begun = 0;

  const conversationOf = ({ n, tenant }: Action) => `/v1/tenants/${tenant}/conversations/act-${n}`;

  // The first answer that says something counts, and so does the second.
  async function decide(action: Action, approval_id: string, approved: boolean): Promise<void> {
    for (let times = 0; times < 2; ) {
      const path = `${conversationOf(action)}/approvals/${approval_id}`;
      const answer = await ask(server, path, { send: { approved }, token });
      if (answer?.status === 200) {
        action.decided = answer.json.status as 'approved' | 'refused';
        times += 1;
      } else await pause(20);
    }
  }

  async function perform(isOver: () => boolean): Promise<void> {
    const n = begun++;
    const action: Action = { n, tenant: n % 3 === 0 ? 'acting' : 'asking' };
    const send = { content: `create task: ${titleOf(action)}` };
    for (;;) {
      const answer = await ask(server, `${conversationOf(action)}/messages`, {
        send,
        token,
        key: `act-${n}`,
      });
      if (answer?.status === 200 || answer?.status === 202) {
        accepted.set(n, action);
        const [approval] = (answer.json.approvals as Approval[] | undefined) ?? [];
        // Some are left for the server that runs after the last crash.
        if (approval && random() < 0.8) await decide(action, approval.approval_id, random() < 0.7);
        return;
      }
      if (isOver() && answer) return;
      await pause(20);
    }
  }

  async function decideTheRest(): Promise<number> {
    const { json } = await askAgain(server, '/v1/tenants/asking/approvals?limit=100', { token });
    const waiting = json.data as Approval[];
    for (const { approval_id, conversation_id } of waiting) {
      const action: Action = { n: Number(conversation_id.slice('act-'.length)), tenant: 'asking' };
      await decide(accepted.get(action.n) ?? action, approval_id, true);
    }
    return waiting.length;
  }

  const turnsOf = async (action: Action): Promise<Turn[]> => {
    const { status, json } = await askAgain(server, `${conversationOf(action)}/messages`, { token });
    return status === 404 ? [] : (json.data as Turn[]);
  };

  async function countTasks(): Promise<Map<string, number>> {
    const titles = new Map<string, number>();
    let cursor = '';
    for (;;) {
      const { json } = await askAgain(server, `/v1/tasks?limit=100${cursor}`, { token });
      for (const { title } of json.data as { title: string }[])
        titles.set(title, (titles.get(title) ?? 0) + 1);
      if (json.next_cursor === null) return titles;
      cursor = `&cursor=${encodeURIComponent(String(json.next_cursor))}`;
    }
  }

  return {
    accepted: () => accepted.size,
    perform,
    async verify(): Promise<{ violations: string[]; summary: string }> {
      const violations: string[] = [];
      const untilMs = Date.now() + settledWithinMs;
      let left = 0;
      for (;;) {
        left = await decideTheRest();
        let open = 0;
        for (const action of accepted.values()) if ((await turnsOf(action)).length === 0) open += 1;
        if ((left === 0 && open === 0) || Date.now() > untilMs) break;
        await pause(500);
      }
      const titles = await countTasks();
      for (const action of accepted.values()) {
        const turns = await turnsOf(action);
        const title = titleOf(action);
        if (turns.length !== 1) violations.push(`${title} was answered ${turns.length} times`);
        const done = titles.get(title) ?? 0;
        const due = action.tenant === 'acting' || action.decided === 'approved' ? 1 : 0;
        if (done !== due)
          violations.push(`${title} (${action.decided ?? action.tenant}) was done ${done} times`);
      }
      for (const [title, times] of titles) if (times > 1) violations.push(`${title} was done ${times} times`);
      const count = (decided: string) => [...accepted.values()].filter(one => one.decided === decided).length;
      const summary = `${accepted.size} actions: ${count('approved')} approved, ${count('refused')} refused, ${titles.size} done`;
      return { violations, summary };
    },
  };
}
