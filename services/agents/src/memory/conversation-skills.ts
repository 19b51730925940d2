import { z } from 'zod';
import type { Base, ModelDeps, Service } from '../deps.ts';
import * as limits from '../limits.ts';
import { tenantDay, userDay } from '../main-table.ts';
import { defineSkill, type Skill, type SkillScope } from '../skills/skill.ts';
import { counted, formatDay } from '../skills/texts.ts';
import { dateOf, spentOf } from '../usage/quota.ts';
import { forgetFacts, rememberFact } from './memory.ts';
import { searchMemory } from './search.ts';

// Skills over the data of this service.

const personOf = ({ tenant_id, user_id }: SkillScope) => {
  if (user_id === undefined)
    throw new Error('this conversation has no user; send `user_id` with its first message');
  return { tenant_id, user_id };
};

export const ownSkills = (
  service: () => Base & ModelDeps & Pick<Service, 'random' | 'sealer' | 'enterTenant'>,
): Skill[] => [
  defineSkill({
    name: 'usage',
    description: "Today's messages, tokens and cost.",
    triggers: ['usage', 'how much have i used', 'cost today'],
    parameters: z.strictObject({}),
    async run(_, { tenant_id, user_id }) {
      const { store, clock } = service();
      const date = dateOf(clock.now());
      const day =
        user_id === undefined
          ? await store.get(tenantDay, { tenant_id, date }, { consistent: true })
          : await store.get(userDay, { tenant_id, user_id, date }, { consistent: true });
      const { messages = 0, input_tokens = 0, output_tokens = 0 } = day ?? {};
      const cost_usd = spentOf(day ?? {}) / limits.microsPerUsd;
      const whose = user_id === undefined ? 'The tenant' : 'You';
      return {
        data: { date, messages, input_tokens, output_tokens, cost_usd },
        text: `${whose}, today (${formatDay(date)}, UTC): ${counted(messages, 'message')}, ${counted(input_tokens + output_tokens, 'token')}, $${cost_usd}.`,
      };
    },
  }),
  defineSkill({
    name: 'search_history',
    description: 'Finds earlier messages of this user, and facts about them, by words or by what they mean.',
    triggers: [
      /^(?:search|find|look up)(?: in)?(?: my)?(?: history| messages| conversations)(?: for)? (?<query>.+)$/i,
    ],
    parameters: z.strictObject({ query: z.string().trim().min(1).max(200) }),
    async run({ query }, scope) {
      const hits = await searchMemory(service(), scope.signal, personOf(scope), query);
      const lines = hits.map(hit => `- ${formatDay(hit.created_at)}, ${hit.role}: ${hit.excerpt}`);
      return { data: { hits }, text: hits.length === 0 ? 'Nothing was found.' : lines.join('\n') };
    },
  }),
  defineSkill({
    name: 'remember',
    description: 'Remembers a fact about the user for later conversations. Only when the user asks for it.',
    triggers: [/^(?:please )?remember(?: that| this:?)? (?<fact>.+)$/is],
    parameters: z.strictObject({ fact: z.string().trim().min(1).max(limits.factChars) }),
    async run({ fact }, scope) {
      const { conversation_id, seq } = scope;
      const added = await rememberFact(service(), personOf(scope), { conversation_id, seq }, fact);
      return { data: added, text: `I will remember: ${added.fact}` };
    },
  }),
  defineSkill({
    name: 'forget',
    description:
      'Forgets facts about the user that contain the given words. Earlier messages with them are no longer found.',
    // "Forget it" must not match facts that contain the word "it".
    triggers: [
      /^(?:please )?forget(?: that| about)? (?!(?:it|that|this|about (?:it|that|this))\W*$)(?<words>.+)$/is,
    ],
    parameters: z.strictObject({ words: z.string().trim().min(1).max(limits.factChars) }),
    async run({ words }, scope) {
      const gone = await forgetFacts(service(), personOf(scope), words);
      return {
        data: { forgotten: gone },
        text: gone.length === 0 ? 'I remember nothing like that.' : `Forgotten: ${gone.join('; ')}`,
      };
    },
  }),
];
