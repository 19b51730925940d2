import type { Skill } from '../skills/skill.ts';

// What can be answered without a model: greetings, and skills whose triggers match the message.
export type RuleMatch =
  | { rule: 'greeting' }
  | { rule: 'help' }
  | { rule: 'thanks' }
  | { rule: 'skill'; skill: Skill; input: Record<string, string> };

const greeting =
  /^(?:hi|hello|hey|hiya|howdy|good (?:morning|afternoon|evening)|hallo|hola|bonjour|ciao)(?: (?:there|all|everyone|team|bot))?$/;
const thanks =
  /^(?:thanks|thank you|thx|cheers|great, thanks|ok thanks|many thanks)(?: (?:so|very) much| a lot)?$/;
const help = /^(?:help|what can you do|what do you do|commands|\?)$/;

// Matching ignores punctuation and case. Longer texts are no greeting, and too long for patterns.
const ruleChars = 500;
const plain = (text: string): string =>
  text
    .trim()
    .toLowerCase()
    .replace(/[!.…]+$/u, '')
    .replace(/(?<=.)\?+$/u, '')
    .replace(/\s+/g, ' ')
    .trim();

export function matchRule(text: string, skills: readonly Skill[]): RuleMatch | undefined {
  if (text.length > ruleChars) return undefined;
  const said = plain(text);
  if (greeting.test(said)) return { rule: 'greeting' };
  if (thanks.test(said)) return { rule: 'thanks' };
  if (help.test(said)) return { rule: 'help' };
  for (const skill of skills) {
    const input = matchSkill(skill, text.trim(), said);
    if (input) return { rule: 'skill', skill, input };
  }
  return undefined;
}

// Words match as words: "usage" does not match "sausage". A pattern sees the message as it was written.
function matchSkill(skill: Skill, text: string, said: string): Record<string, string> | undefined {
  for (const trigger of skill.triggers) {
    if (typeof trigger === 'string') {
      if (hasWords(said, trigger.toLowerCase())) return acceptsNothing(skill) ? {} : undefined;
      continue;
    }
    const groups = trigger.exec(text)?.groups;
    if (groups) return Object.fromEntries(Object.entries(groups).filter(([, value]) => value !== undefined));
    if (trigger.test(text)) return {};
  }
  return undefined;
}

const acceptsNothing = ({ parameters, jsonSchema }: Skill): boolean => {
  const required = jsonSchema?.required;
  return parameters.safeParse({}).success && !(Array.isArray(required) && required.length > 0);
};

function hasWords(text: string, words: string): boolean {
  const at = text.indexOf(words);
  if (at < 0) return false;
  const isEdge = (character: string | undefined) =>
    character === undefined || !/[\p{L}\p{N}_]/u.test(character);
  return isEdge(text[at - 1]) && isEdge(text[at + words.length]);
}

const listOf = (skills: readonly Skill[]): string =>
  skills.length === 0
    ? 'No skills are enabled here yet.'
    : `I can help with:\n${skills.map(({ name, description }) => `- ${name}: ${description}`).join('\n')}`;

export const sayHello = (skills: readonly Skill[]): string => `Hello. ${listOf(skills)}`;
export const sayHelp = (skills: readonly Skill[]): string => listOf(skills);
export const sayWelcome = 'You are welcome.';
// The notice instead of an answer if there is no model. It must not read like an answer.
export const sayNoModel = (missing: string, skills: readonly Skill[]): string =>
  `No model is configured, so I cannot answer this. ${missing}\n\n${listOf(skills)}`;
export const sayStopped = 'The answer was stopped.';
// Nobody waits for an error when a worker answers: the reason is the answer.
export const sayOverBudget =
  'I cannot answer this now: what may be spent on answers today is used up. Ask again tomorrow.';
export const sayTooExpensive = 'I cannot answer this: it would cost more than one answer may.';
export const sayNoPrice =
  'I cannot answer this: my model has no price, so what it costs cannot be limited. An administrator can change that.';
