import { z } from 'zod';
import { accountOf, defineSkill, ownerOf, type Skill, type SkillOwner, type SkillScope } from './skill.ts';
import { counted } from './texts.ts';

// Actions of other services for a user. Each call has a key, and the service acts once for each key. A skill without
// its port is not listed.
export type ActionPorts = {
  createTask?(whose: SkillOwner, task: NewTask, key: string): Promise<TaskDone>;
  completeTask?(whose: SkillOwner, taskId: string): Promise<TaskDone>;
  sendMessage?(whose: SkillOwner, to: string, message: NewMessage, key: string): Promise<{ id: string }>;
  readDelivery?(accountId: string, eventId: string): Promise<DeliveryReport>;
  replayDelivery?(accountId: string, eventId: string, key: string): Promise<{ deliveries: number }>;
  queryLake?(whose: SkillOwner, sql: string): Promise<LakeAnswer>;
};
type NewTask = { title: string; description?: string; due_date?: string; priority?: string };
type TaskDone = { task_id: string; title: string; status: string };
type NewMessage = { title: string; body: string };
type DeliveryReport = {
  event_id: string;
  status: string;
  deliveries: readonly {
    connection_id: string;
    state: string;
    attempts: number;
    status_code?: number;
    error?: string;
  }[];
};
type LakeAnswer = {
  columns: readonly string[];
  rows: readonly (readonly unknown[])[];
  truncated: boolean;
};

const keyOf = ({ idempotency_key }: SkillScope): string => idempotency_key!;

const createTask = (run: NonNullable<ActionPorts['createTask']>): Skill =>
  defineSkill({
    name: 'create_task',
    description: 'Creates a task for the user.',
    triggers: [/^(?:please )?(?:create|add)(?: a| the)? task:? (?<title>.+)$/i],
    parameters: z.strictObject({
      title: z.string().trim().min(1).max(200),
      description: z.string().max(2_000).optional(),
      due_date: z.iso.date().optional(),
      priority: z.enum(['low', 'medium', 'high', 'urgent']).optional(),
    }),
    acts: true,
    needs: 'tasks:write',
    async run(task, scope) {
      const made = await run(ownerOf(scope), task, keyOf(scope));
      return { data: made, text: `Created the task "${made.title}" (${made.task_id}).` };
    },
  });

const completeTask = (run: NonNullable<ActionPorts['completeTask']>): Skill =>
  defineSkill({
    name: 'complete_task',
    description: 'Marks a task of the user as completed, by its id.',
    triggers: [/^(?:please )?complete(?: the)? task (?<task_id>tsk_\w+)$/i],
    parameters: z.strictObject({ task_id: z.string().regex(/^tsk_[0-9a-z]{24}$/, 'An id of a task') }),
    acts: true,
    needs: 'tasks:write',
    async run({ task_id }, scope) {
      const done = await run(ownerOf(scope), task_id);
      return { data: done, text: `Completed the task "${done.title}".` };
    },
  });

const sendMessage = (run: NonNullable<ActionPorts['sendMessage']>): Skill =>
  defineSkill({
    name: 'send_inbox_message',
    description:
      "Sends a message to an inbox: the user's own or, in a conversation of the host, that of the user it names.",
    triggers: [],
    parameters: z.strictObject({
      to: z.string().min(1).max(128).optional().describe('The id of a user. Defaults to the user who asks.'),
      title: z.string().trim().min(1).max(200),
      body: z.string().trim().min(1).max(4_000),
    }),
    acts: true,
    needs: 'inbox:write',
    async run({ to, title, body }, scope) {
      const recipient = to ?? scope.user_id;
      if (recipient === undefined) throw new Error('say whom the message is for, in `to`');
      // A user's own token cannot write to others, so an agent must not do it for them.
      if (scope.user_id !== undefined && recipient !== scope.user_id)
        throw new Error('a user can send messages to themselves only');
      const sent = await run(ownerOf(scope), recipient, { title, body }, keyOf(scope));
      return { data: sent, text: `Sent "${title}" to ${recipient}.` };
    },
  });

const eventId = z.strictObject({ event_id: z.string().regex(/^evt_\w{1,64}$/, 'An id of an event') });

const readDelivery = (run: NonNullable<ActionPorts['readDelivery']>): Skill =>
  defineSkill({
    name: 'look_at_delivery',
    isAboutAccount: true,
    description: 'Shows the deliveries of a webhook event: state, attempts and the last response.',
    triggers: [/^(?:look at|show)(?: the)? (?:delivery|event) (?<event_id>evt_\w+)$/i],
    parameters: eventId,
    async run({ event_id }, scope) {
      const report = await run(accountOf(scope), event_id);
      const lines = report.deliveries.map(({ connection_id, state, attempts, status_code, error }) => {
        const last = [status_code, error].filter(one => one !== undefined).join(' ');
        return `- ${connection_id}: ${state} after ${counted(attempts, 'attempt')}${last === '' ? '' : ` (${last})`}`;
      });
      return { data: report, text: [`${event_id} is ${report.status}.`, ...lines].join('\n') };
    },
  });

const replayDelivery = (run: NonNullable<ActionPorts['replayDelivery']>): Skill =>
  defineSkill({
    name: 'replay_delivery',
    isAboutAccount: true,
    description: 'Delivers a webhook event again, to all connections of its source.',
    triggers: [/^(?:please )?replay(?: the)? (?:delivery|event) (?<event_id>evt_\w+)$/i],
    parameters: eventId,
    acts: true,
    async run({ event_id }, scope) {
      const replayed = await run(accountOf(scope), event_id, keyOf(scope));
      const deliveries = counted(replayed.deliveries, 'delivery', 'deliveries');
      return { data: replayed, text: `${event_id} is delivered again: ${deliveries}.` };
    },
  });

const queryLake = (run: NonNullable<ActionPorts['queryLake']>): Skill =>
  defineSkill({
    name: 'query_lake',
    description: "Runs one SQL SELECT over the user's own rows. Read-only.",
    triggers: [],
    parameters: z.strictObject({ sql: z.string().trim().min(1).max(4_000) }),
    needs: 'lake:read',
    async run({ sql }, scope) {
      const answer = await run(ownerOf(scope), sql);
      const lines = answer.rows.slice(0, 20).map(row => row.map(String).join(' | '));
      return { data: answer, text: [answer.columns.join(' | '), ...lines].join('\n') };
    },
  });

const made = <Port>(port: Port | undefined, make: (port: Port) => Skill): Skill[] =>
  port ? [make(port)] : [];

export const actingSkills = (ports: ActionPorts): Skill[] => [
  ...made(ports.createTask, createTask),
  ...made(ports.completeTask, completeTask),
  ...made(ports.sendMessage, sendMessage),
  ...made(ports.readDelivery, readDelivery),
  ...made(ports.replayDelivery, replayDelivery),
  ...made(ports.queryLake, queryLake),
];
