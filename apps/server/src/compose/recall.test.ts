import { expect, it } from 'vitest';
import { withRecall } from './recall.ts';

const task_id = 'tsk_0mjuxvy9s00b8f0k3x1q2w4f';

// The history of one task of an account, which the store has no more.
const findings = withRecall({ event: async () => [], task: async () => [] }, {
  history: async () => ({
    data: [
      {
        kind: 'remove',
        changes: [
          { field: 'user_id', before: 'usr_ann', after: undefined },
          { field: 'task_id', before: task_id, after: undefined },
          { field: 'created_at', before: 1_767_225_600, after: undefined },
        ],
      },
    ],
  }),
} as unknown as Parameters<typeof withRecall>[1]);
const ask = (parts: string[], userId?: string) => findings.task!(parts, { accountId: 'ann', userId });

it('recalls what is not stored any more, without its words', async () => {
  expect(await ask(['usr_ann', task_id])).toMatchObject([
    { ref: { parts: ['usr_ann', task_id] }, at: 1_767_225_600_000, what: 'a task, not stored any more' },
  ]);
});

it('recalls nothing for the name of another owner, nor for users of tenants', async () => {
  expect(await ask(['shop:bob', task_id])).toEqual([]);
  expect(await ask(['shop', 'bob', task_id])).toEqual([]);
  expect(await ask(['usr_ann', task_id], 'bob')).toEqual([]);
});
