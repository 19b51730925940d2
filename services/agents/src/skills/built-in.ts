import { z } from 'zod';
import * as limits from '../limits.ts';
import { type ActionPorts, actingSkills } from './acting-skills.ts';
import { accountOf, defineSkill, ownerOf, type Skill, type SkillOwner } from './skill.ts';
import { counted, formatTime } from './texts.ts';

// Information from other services. A skill without its port is not listed.
export type SkillPorts = ActionPorts & {
  taskStatistics?(whose: SkillOwner): Promise<TaskStatistics>;
  inboxSummary?(whose: SkillOwner): Promise<InboxSummary>;
  webhookHealth?(accountId: string): Promise<WebhookHealth>;
};
export type TaskStatistics = { done: number; left: number; blocked: number; overdue: number };
export type InboxSummary = {
  unread: number;
  unseen: number;
  newest: readonly { title: string; at: string }[];
  time_zone: string; // of the user, for times in a text
};
export type WebhookHealth = {
  sources: number;
  delivered: number;
  failed: number;
  failing: readonly string[]; // names of connections
};

const nothing = z.strictObject({});

// The risk that tasks are not done: overdue and blocked ones, as a share of what is left.
function riskOf({ left, blocked, overdue }: TaskStatistics): 'none' | 'low' | 'medium' | 'high' {
  if (left === 0) return 'none';
  const stuck = Math.min(1, (overdue + blocked) / left);
  return stuck >= 0.5 ? 'high' : stuck >= 0.2 ? 'medium' : 'low';
}

const sprintStatus = (read: NonNullable<SkillPorts['taskStatistics']>): Skill =>
  defineSkill({
    name: 'sprint_status',
    description: 'Summarises the tasks: done, left, blocked, overdue, and the risk.',
    triggers: ['sprint status', 'status of the sprint', 'task status', 'how are my tasks'],
    parameters: nothing,
    async run(_, scope) {
      const counts = await read(ownerOf(scope));
      const total = counts.done + counts.left;
      const risk = riskOf(counts);
      const { done, left, blocked, overdue } = counts;
      const text =
        total === 0
          ? 'There are no tasks.'
          : `${done} of ${counted(total, 'task')} done, ${left} left: ${blocked} blocked, ${overdue} overdue. Risk: ${risk}.`;
      return { data: { ...counts, total, risk }, text };
    },
  });

const inboxSummary = (read: NonNullable<SkillPorts['inboxSummary']>): Skill =>
  defineSkill({
    name: 'inbox_summary',
    description: 'What is unread in the inbox, newest first.',
    triggers: ['inbox summary', 'my inbox', 'unread messages', 'any new messages'],
    parameters: nothing,
    async run(_, scope) {
      const found = await read(ownerOf(scope));
      const lines = found.newest.map(({ title, at }) => `- ${title} (${formatTime(at, found.time_zone)})`);
      const text = `${found.unread} unread, ${found.unseen} new.`;
      return { data: found, text: [text, ...lines].join('\n') };
    },
  });

const webhookHealth = (read: NonNullable<SkillPorts['webhookHealth']>): Skill =>
  defineSkill({
    name: 'webhook_health',
    isAboutAccount: true,
    description: 'Summarises webhook deliveries, and lists failing connections.',
    triggers: ['webhook health', 'webhook status', 'failing webhooks', 'how are the webhooks'],
    parameters: nothing,
    async run(_, scope) {
      const health = await read(accountOf(scope));
      const { sources, delivered, failed, failing } = health;
      const text = `${counted(sources, 'source')}, ${counted(delivered, 'delivery', 'deliveries')} made, ${failed} failed.`;
      const names =
        failing.length === 0 ? [] : [`Failing: ${failing.slice(0, limits.searchHits).join(', ')}.`];
      return { data: health, text: [text, ...names].join(' ') };
    },
  });

export const portSkills = ({
  taskStatistics,
  inboxSummary: inbox,
  webhookHealth: health,
  ...actions
}: SkillPorts): Skill[] => [
  ...(taskStatistics ? [sprintStatus(taskStatistics)] : []),
  ...(inbox ? [inboxSummary(inbox)] : []),
  ...(health ? [webhookHealth(health)] : []),
  ...actingSkills(actions),
];
