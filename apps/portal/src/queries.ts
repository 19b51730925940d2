import type { ApiTypes } from '@stak/client';
import { client, tenantId } from './session.ts';

export type Me = ApiTypes['tenants.getPortalUser']['data'];
export type Turn = ApiTypes['agents.listMessages']['data']['data'][number];
export type Approval = ApiTypes['agents.getApproval']['data'];

export const meKey = ['me'];
export const readMe = async (): Promise<Me> =>
  (await client.tenants.getPortalUser({ tenant_id: tenantId })).data;

export const conversationsKey = ['conversations'];
export const turnsKey = (conversation_id: string) => ['turns', conversation_id];
export const approvalsKey = (conversation_id: string) => ['approvals', conversation_id];
export const tasksKey = ['tasks'];
export const memoryKey = ['memory'];
export const usersKey = ['users'];
export const invitationsKey = ['invitations'];
export const settingsKey = ['settings'];
export const channelsKey = ['channels'];
export const skillsKey = ['skills'];
export const providerKey = ['provider'];
