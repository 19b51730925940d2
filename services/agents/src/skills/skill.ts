import type { z } from 'zod';
import * as limits from '../limits.ts';

// Whom and what a skill works for. It is bound before a model sees the skill, so nothing a model writes, and nothing
// that a text it read told it to write, reaches another tenant's data.
export type SkillScope = {
  readonly tenant_id: string;
  readonly account_id: string;
  readonly user_id: string | undefined;
  readonly conversation_id: string;
  readonly signal: AbortSignal;
};

export type Skill<Parameters extends z.ZodObject = z.ZodObject> = {
  readonly name: string;
  readonly description: string;
  // What makes a rule of it: words in a message, or a pattern whose named groups are the parameters.
  readonly triggers: readonly (string | RegExp)[];
  readonly parameters: Parameters;
  readonly jsonSchema?: Readonly<Record<string, unknown>>; // for a model, if the parameters say less
  // Data for a model, and what a user reads if no model is asked.
  run(input: z.output<Parameters>, scope: SkillScope): Promise<SkillResult>;
};
export type SkillResult = { data: unknown; text: string };

const nameShape = new RegExp(`^[a-z][a-z0-9_]{0,${limits.skillNameChars - 1}}$`);

export function defineSkill<const Parameters extends z.ZodObject>(skill: Skill<Parameters>): Skill {
  if (!nameShape.test(skill.name)) throw new TypeError(`"${skill.name}" is no name for a skill`);
  if ('tenant_id' in skill.parameters.shape || 'tenant' in skill.parameters.shape)
    throw new TypeError(`${skill.name}: a skill is told its tenant, it is not asked for one`);
  return skill as unknown as Skill;
}
