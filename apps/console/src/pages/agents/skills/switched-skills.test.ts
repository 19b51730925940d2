import { describe, expect, it } from 'vitest';
import { switchSkill } from './switched-skills.ts';

const described = { name: 'stock', owner: 'shop' };
const skills = { enabled_skills: ['usage'], custom_skills: ['hours', described] };
const builtIn = (name: string) => ({ name, is_custom: false });
const own = (name: string) => ({ name, is_custom: true });

describe('switching a skill', () => {
  it('identifies a skill by its source and names it once', () => {
    expect(switchSkill(skills, builtIn('remember'), true)).toEqual({ enabled_skills: ['usage', 'remember'] });
    expect(switchSkill(skills, builtIn('usage'), true)).toEqual({ enabled_skills: ['usage'] });
    expect(switchSkill(skills, own('weather'), true)).toEqual({
      custom_skills: ['hours', described, 'weather'],
    });
  });

  it('turns off a skill wherever it is named or described', () => {
    expect(switchSkill(skills, own('stock'), false)).toMatchObject({ custom_skills: ['hours'] });
    expect(switchSkill(skills, own('hours'), false)).toMatchObject({ custom_skills: [described] });
    expect(switchSkill(skills, own('usage'), false)).toMatchObject({ enabled_skills: [] });
  });
});
