import type { Plan } from '../harness.ts';
import type { Customer } from '../server/customer.ts';
import type { Operation, Request } from '../server/load.ts';
import type { ServerProcess } from '../server/process.ts';
import { measureServer, type ServerMeasure } from '../server/rounds.ts';
import { messagesPath, question, settings } from './agents.ts';

export const requestNames = ['constant', 'turn'] as const;
export type RequestName = (typeof requestNames)[number];
export type Requests = Record<RequestName, ServerMeasure>;

export const requestTitles: Record<RequestName, string> = {
  constant: 'a constant, by Hono alone',
  turn: 'a turn that a rule answers',
};

const inFlight = 32;
const settleMs = 2000; // the lake has captured the last turns

// The same POST to the constant and to conversations.
export async function measureRequests(
  server: ServerProcess,
  customer: Customer,
  conversationsEach: number,
  plan: Plan,
): Promise<Requests> {
  const said = await beginConversations(customer, conversationsEach);
  const operations: Record<RequestName, Operation> = {
    constant: { requests: [{ ...said[0]!, path: '/constant' }], status: 200 },
    turn: { requests: said, status: 200 },
  };
  return measureServer({ server, operations, names: requestNames, inFlight, plan, settleMs });
}

// Many more conversations than requests in flight, so that none has two messages at a time.
export async function beginConversations(customer: Customer, each: number): Promise<Request[]> {
  const { client, tenantId, endUsers } = customer;
  await client.tenants.updateSettings({ tenant_id: tenantId, body: settings }, { ifMatch: '*' });
  const said: Request[] = [];
  for (let i = 0; i < each; i++)
    for (const { userId, token } of endUsers) {
      const body = { user_id: userId };
      const { data } = await client.agents.createConversation({ tenant_id: tenantId, body });
      said.push(sayTo(data.conversation_id, tenantId, token));
    }
  return said;
}

const sayTo = (conversationId: string, tenantId: string, token: string): Request => ({
  method: 'POST',
  path: messagesPath(conversationId, tenantId),
  headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
  body: JSON.stringify(question),
});
