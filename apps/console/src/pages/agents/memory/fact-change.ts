import { iterate } from '@stak/client';
import { client } from '../../../queries/api.ts';

type Session = { tenant_id: string; user_id: string; session_id: string };

// The API replaces all facts of a conversation at once. So they are read again first, to keep what the agent has
// learnt since the page was loaded.
export async function changeFact(
  { tenant_id, user_id, session_id }: Session,
  fact_id: string,
  text: string | undefined, // undefined forgets it
): Promise<void> {
  for await (const item of iterate(client.agents.listMemory, { tenant_id, user_id, limit: 100 })) {
    if (item.session_id !== session_id) continue;
    const isThere = item.key_facts.some(fact => fact.fact_id === fact_id);
    if (!isThere) break;
    const key_facts = item.key_facts.flatMap(fact => {
      if (fact.fact_id !== fact_id) return [{ fact_id: fact.fact_id, fact: fact.fact }];
      return text === undefined ? [] : [{ fact_id, fact: text }];
    });
    await client.agents.editMemory({ tenant_id, user_id, session_id, body: { key_facts } });
    return;
  }
  throw new Error('This was forgotten in the meantime.');
}
