import type { Settings, SettingsPatch } from '../../tenants/settings-draft.ts';

type Entry = Settings['custom_skills'][number];
type Skills = Pick<Settings, 'enabled_skills' | 'custom_skills'>;

const nameOf = (entry: Entry): unknown => (typeof entry === 'string' ? entry : entry.name);

// A skill is enabled if its name is in one of two lists: built-in skills, or the tenant's own.
export function switchSkill(
  { enabled_skills, custom_skills }: Skills,
  { name, is_custom }: { name: string; is_custom: boolean },
  isOn: boolean,
): SettingsPatch {
  const builtIn = enabled_skills.filter(skill => skill !== name);
  const own = custom_skills.filter(skill => nameOf(skill) !== name);
  if (!isOn) return { enabled_skills: builtIn, custom_skills: own };
  return is_custom ? { custom_skills: [...own, name] } : { enabled_skills: [...builtIn, name] };
}
