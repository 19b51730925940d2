import type { z } from 'zod';
import * as limits from '../limits.ts';

// Whom and what a skill works for. It is bound before a model sees the skill, so nothing a model writes, and nothing
// that a text it read told it to write, reaches another tenant's data.
export type SkillScope = {
  readonly tenant_id: string;
  readonly account_id: string;
  readonly user_id: string | undefined;
  readonly conversation_id: string;
  readonly seq?: number; // of the turn that is being made
  readonly signal: AbortSignal;
  // What the token of the user who asks may do, as names separated by spaces. Undefined if no token was involved.
  readonly granted?: string;
  // The same for every repetition of one call. Only for skills that act.
  readonly idempotency_key?: string;
};

// A conversation without a user is the host's: its skills are about the account itself.
export type SkillOwner = { tenant_id: string; account_id: string; user_id: string | undefined };

export const ownerOf = ({ tenant_id, account_id, user_id }: SkillScope): SkillOwner => ({
  tenant_id,
  account_id,
  user_id,
});

// Webhooks are the account's. Its users have no part in them.
export function accountOf({ account_id, user_id }: SkillScope): string {
  if (user_id !== undefined) throw new Error('webhooks belong to the account; its users cannot see them');
  return account_id;
}

// Who has to agree before a skill runs: the user of the conversation, an admin of the tenant, or nobody.
export const approvals = ['user', 'admin', 'never'] as const;
export type Approval = (typeof approvals)[number];

export type Skill<Parameters extends z.ZodObject = z.ZodObject> = {
  readonly name: string;
  readonly description: string;
  // What makes a rule of it: words in a message, or a pattern whose named groups are the parameters.
  readonly triggers: readonly (string | RegExp)[];
  readonly parameters: Parameters;
  readonly jsonSchema?: Readonly<Record<string, unknown>>; // for a model, if the parameters say less
  // It changes something. Its calls are written down before they are made, so that a turn that is made again repeats
  // them with their keys.
  readonly acts?: boolean;
  readonly approval?: Approval; // unless the tenant says otherwise; `user` for one that acts
  readonly isRepeatable?: boolean; // false: a call whose outcome got lost is not made again
  readonly timeoutMs?: number; // instead of ten seconds
  readonly isAboutAccount?: true; // it tells or changes something of the account, beyond the tenant
  readonly needs?: string; // of a user's token, besides `agents:chat`
  // Data for a model, and what a user reads if no model is asked.
  run(input: z.output<Parameters>, scope: SkillScope): Promise<SkillResult>;
};
export type SkillResult = { data: unknown; text: string };

// A tenant's own choice counts, whatever the skill says of itself.
export const approvalOf = (
  { name, approval, acts }: Pick<Skill, 'name' | 'approval' | 'acts'>,
  chosen: Readonly<Record<string, Approval>>,
): Approval => (Object.hasOwn(chosen, name) ? chosen[name]! : (approval ?? (acts ? 'user' : 'never')));

// The call was made, and its outcome is not known.
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown';
}

const nameShape = new RegExp(`^[a-z][a-z0-9_]{0,${limits.skillNameChars - 1}}$`);

export function defineSkill<const Parameters extends z.ZodObject>(skill: Skill<Parameters>): Skill {
  if (!nameShape.test(skill.name)) throw new TypeError(`"${skill.name}" is not a valid skill name`);
  if ('tenant_id' in skill.parameters.shape || 'tenant' in skill.parameters.shape)
    throw new TypeError(`${skill.name}: a skill gets its tenant from the call, not as a parameter`);
  return skill as unknown as Skill;
}
