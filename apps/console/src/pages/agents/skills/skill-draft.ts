import type { ApiTypes } from '@stak/client';

export type SkillBody = ApiTypes['agents.putCustomSkill']['args']['body'];
export type FilledSkill = { name: string; body: SkillBody };

// The values of the form: one trigger per line, arguments as JSON.
export type SkillDraft = { description: string; url: string; triggers: string; parameters: string };

const noArguments = { type: 'object', properties: {} };

export const exampleArguments = JSON.stringify(
  {
    type: 'object',
    properties: { order: { type: 'string', description: 'The number of the order' } },
    required: ['order'],
  },
  null,
  2,
);

export const draftOfSkill = (skill: SkillBody | undefined): SkillDraft => ({
  description: skill?.description ?? '',
  url: skill?.url ?? '',
  triggers: (skill?.triggers ?? []).join('\n'),
  parameters: JSON.stringify(skill?.parameters ?? noArguments, null, 2),
});

// Undefined if the arguments are not a JSON object, which a schema has to be.
export function bodyOfSkill({ description, url, triggers, parameters }: SkillDraft): SkillBody | undefined {
  const schema = parseObject(parameters);
  const said = triggers.split('\n').map(line => line.trim());
  return schema && { description, url, triggers: said.filter(Boolean), parameters: schema };
}

export function parseObject(text: string): { [name: string]: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as { [name: string]: unknown }) : undefined;
  } catch {
    return undefined;
  }
}
