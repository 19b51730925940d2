import type { Fault } from '../fault.ts';

// Named agents: who may begin with one, which version answers, what one does for another, and what it may cost.
const versions = 'services/agents/test/named-agents.test.ts';
const teams = 'services/agents/test/agent-teams.test.ts';

export const namedAgentFaults: readonly Fault[] = [
  {
    name: 'named-hidden-agent-for-users',
    file: 'services/agents/src/agents/current.ts',
    before: 'if (!agent || isHidden) throw noAgent();',
    after: 'if (!agent) throw noAgent();',
    why: 'A user begins a conversation with an agent that is for the host',
    caughtBy: { test: versions, name: 'its user may begin' },
  },
  {
    name: 'named-rollback-publishes-the-draft',
    file: 'services/agents/src/agents/agents.ts',
    before: 'if (version !== undefined || number <= before.last_version) {',
    after: 'if (number <= before.last_version) {',
    why: 'Rolling back to a version that is not there publishes the draft',
    caughtBy: { test: versions, name: 'go back to earlier ones' },
  },
  {
    name: 'named-lost-skill-is-called',
    file: 'services/agents/src/turns/run-turn.ts',
    before: 'agentOf(service, await enter(), currentOf(tenant, held));',
    after: 'agentOf(service, await enter(), refOf(tenant));',
    why: 'A turn calls a skill that the published version has lost',
    caughtBy: { test: teams, name: 'is not called by a turn that began before' },
  },
  {
    name: 'named-hand-off-is-forgotten',
    file: 'services/agents/src/turns/run-turn.ts',
    before: "        ...('handed_from' in handed && { agent: name }),\n",
    after: '',
    why: 'The next message is answered by the agent that has handed over',
    caughtBy: { test: teams, name: 'lets the other one answer' },
  },
  {
    name: 'named-hand-offs-without-end',
    file: 'services/agents/src/turns/team-skills.ts',
    before: 'const mayHandOver = !isAsked && team.handOffs < limits.handOffs;',
    after: 'const mayHandOver = !isAsked;',
    why: 'Two agents pass a conversation to each other until the turn runs out of steps',
    caughtBy: { test: teams, name: 'pass a conversation to each other' },
  },
  {
    name: 'named-asked-agent-acts',
    file: 'services/agents/src/turns/team-skills.ts',
    before: '  !skill.acts && approvalOf',
    after: '  approvalOf',
    why: 'An agent that is asked acts, and again if the turn is made again',
    caughtBy: { test: teams, name: 'gets its answer' },
  },
  {
    name: 'named-asks-without-depth',
    file: 'services/agents/src/turns/team-skills.ts',
    before: 'const mayAsk = askedBy.length < limits.agentDepth;',
    after: 'const mayAsk = true;',
    why: 'Agents ask each other without a bound',
    caughtBy: { test: teams, name: 'is at most so deep' },
  },
  {
    name: 'named-agent-without-budget',
    file: 'services/agents/src/models/budget.ts',
    before: 'ofAgent, micros, caps.agentUsd);',
    after: 'ofAgent, micros, undefined);',
    why: 'An agent spends more a day than its definition allows',
    caughtBy: { test: teams, name: 'of a day is its own' },
  },
  {
    name: 'named-turn-without-budget',
    file: 'services/agents/src/models/budget.ts',
    before: 'if (micros > 0 && capUsd !== undefined &&',
    after: 'if (micros > 1e15 && capUsd !== undefined &&',
    why: 'A turn costs more than its agent allows',
    caughtBy: { test: teams, name: 'of a turn ends it' },
  },
];
