import { answerPage, endpoint, json, type PageRequest, pageQuery, readsOnly, route } from '@stak/http';
import { findConversation } from '../conversations/external-writes.ts';
import { type Base, enteredTenant, type Service, type StateDeps } from '../deps.ts';
import { approvalsOfConversation } from '../main-table.ts';
import * as schema from '../schema.ts';
import { decide, deciderOf, findApproval } from './decisions.ts';
import { listApprovals } from './list.ts';
import { showApproval } from './views.ts';

const user = {
  auth: 'user',
  endUserScope: 'agents:chat',
  tags: ['agents'] as string[],
  tenant: 'path',
  mcp: false,
} as const;
const base = '/v1/tenants/{tenant_id}';
const ofConversation = `${base}/conversations/{conversation_id}/approvals` as const;
const onePath = `${ofConversation}/{approval_id}` as const;

const routes = {
  list: route({
    ...user,
    ...readsOnly,
    path: `${base}/approvals`,
    operationId: 'agents.listApprovals',
    mcp: 'reads',
    scope: 'read',
    summary: 'List pending approvals',
    description:
      'Returns the oldest first. A host gets all of them. End users get those that they can decide: the calls in their own conversations and, for admins of the tenant, those that need an admin.',
    request: { params: schema.tenantParams, query: pageQuery() },
    responses: { 200: json(schema.approvalPage) },
  }),
  ofConversation: route({
    ...user,
    ...readsOnly,
    path: ofConversation,
    operationId: 'agents.listConversationApprovals',
    scope: 'read',
    summary: 'List the approvals of a conversation',
    description: 'Returns pending approvals, and those decided in the last few days.',
    request: { params: schema.conversationParams, query: pageQuery() },
    responses: { 200: json(schema.approvalPage) },
    problems: ['agents.conversation_not_found'],
  }),
  get: route({
    ...user,
    ...readsOnly,
    path: onePath,
    operationId: 'agents.getApproval',
    scope: 'read',
    summary: 'Get an approval',
    description: 'Returns a call that waits for an approval, or the decision.',
    request: { params: schema.approvalParams },
    responses: { 200: json(schema.approvalShape) },
    problems: ['agents.approval_not_found'],
  }),
  decide: route({
    ...user,
    method: 'post',
    path: onePath,
    operationId: 'agents.decideApproval',
    reaches: 'model',
    audit: 'own',
    stores: 'edit',
    scope: 'write',
    summary: 'Approve or refuse a call',
    description:
      'The first decision counts. Repeating it returns the same response; a different decision returns 409. The turn continues in the background; get its answer at `…/messages/{message_id}`. A call that needs an admin can be decided by an admin of the tenant, or with a key with the scope `admin`.',
    request: { params: schema.approvalParams, body: json(schema.newDecision) },
    responses: { 200: json(schema.approvalShape) },
    problems: ['agents.approval_not_found', 'agents.approval_not_yours', 'agents.approval_decided'],
  }),
};

export const createApprovalRoutes = (service: Base & StateDeps & Pick<Service, 'roleOf' | 'audit'>) =>
  [
    endpoint(routes.list, async c => {
      const caller = c.get('principal');
      const { tenant_id } = c.req.valid('param');
      const read = (page: PageRequest) => listApprovals(service, caller, tenant_id, page);
      return c.json(await answerPage(caller, c.req.valid('query'), read, showApproval), 200);
    }),
    endpoint(routes.ofConversation, async c => {
      const caller = c.get('principal');
      const key = c.req.valid('param');
      await findConversation(service, caller, key);
      const read = (page: PageRequest) => service.store.query(approvalsOfConversation, key, page);
      return c.json(await answerPage(caller, c.req.valid('query'), read, showApproval), 200);
    }),
    endpoint(routes.get, async c => {
      const caller = c.get('principal');
      return c.json(showApproval(await findApproval(service, caller, c.req.valid('param'))), 200);
    }),
    endpoint(routes.decide, async c => {
      const caller = c.get('principal');
      const { account_id } = enteredTenant(c);
      const decider = deciderOf(c, caller, account_id);
      const decided = await decide(service, caller, c.req.valid('param'), c.req.valid('json'), decider);
      return c.json(showApproval(decided), 200);
    }),
  ] as const;
