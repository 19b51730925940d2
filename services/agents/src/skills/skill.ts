import type { z } from 'zod';
import * as limits from '../limits.ts';
import type { Approval } from '../settings.ts';

// The tenant and user a skill runs for. It is bound before a model sees the skill, so nothing that a model writes, even
// if a text told it to, reaches another tenant's data.
export type SkillScope = {
  readonly tenant_id: string;
  readonly account_id: string;
  readonly user_id: string | undefined;
  readonly conversation_id: string;
  readonly seq?: number; // of the turn in progress
  readonly signal: AbortSignal;
  // The scopes of the user's token, separated by spaces. Undefined if no token was involved.
  readonly granted?: string;
  // The same for every repetition of one call. Only for skills that act.
  readonly idempotency_key?: string;
};

// A conversation without a user belongs to the host: its skills are about the account itself.
export type SkillOwner = { tenant_id: string; account_id: string; user_id: string | undefined };

export const ownerOf = ({ tenant_id, account_id, user_id }: SkillScope): SkillOwner => ({
  tenant_id,
  account_id,
  user_id,
});

// Webhooks belong to the account. Its users have no access to them.
export function accountOf({ account_id, user_id }: SkillScope): string {
  if (user_id !== undefined) throw new Error('webhooks belong to the account; its users cannot see them');
  return account_id;
}

export type Skill<Parameters extends z.ZodObject = z.ZodObject> = {
  readonly name: string;
  readonly description: string;
  // Triggers it by rule: words in a message, or a pattern whose named groups are the parameters.
  readonly triggers: readonly (string | RegExp)[];
  readonly parameters: Parameters;
  readonly jsonSchema?: Readonly<Record<string, unknown>>; // for a model, if the parameters say less
  // It changes something. Its calls are stored before they are made, so that a repeated turn makes them with the same
  // keys.
  readonly acts?: boolean;
  readonly approval?: Approval; // unless the tenant overrides it; `user` for one that acts
  readonly isRepeatable?: boolean; // false: a call whose outcome is unknown is not repeated
  readonly timeoutMs?: number; // instead of ten seconds
  readonly isAboutAccount?: true; // reads or changes data of the account, beyond the tenant
  readonly needs?: string; // required of a user's token, in addition to `agents:chat`
  // Data for a model, and the text for a user if no model is used.
  run(input: z.output<Parameters>, scope: SkillScope): Promise<SkillResult>;
};
export type SkillResult = { data: unknown; text: string };

// The tenant's setting overrides that of the skill.
export const approvalOf = (
  { name, approval, acts }: Pick<Skill, 'name' | 'approval' | 'acts'>,
  chosen: Readonly<Record<string, Approval>>,
): Approval => (Object.hasOwn(chosen, name) ? chosen[name]! : (approval ?? (acts ? 'user' : 'never')));

// The call was made, and its outcome is unknown.
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown';
}

// A gateway answers with these if the server behind it did not answer. It may have done what it was asked.
const unanswered = new Set([502, 504, 520, 522, 524]);

// A response that is no success.
export const refusalOf = (status: number): Error =>
  new (unanswered.has(status) ? OutcomeUnknown : Error)(`it answered ${status}`);

const nameShape = new RegExp(`^[a-z][a-z0-9_]{0,${limits.skillNameChars - 1}}$`);

export function defineSkill<const Parameters extends z.ZodObject>(skill: Skill<Parameters>): Skill {
  if (!nameShape.test(skill.name)) throw new TypeError(`"${skill.name}" is not a valid skill name`);
  if ('tenant_id' in skill.parameters.shape || 'tenant' in skill.parameters.shape)
    throw new TypeError(`${skill.name}: a skill gets its tenant from the call, not as a parameter`);
  return skill as unknown as Skill;
}
