import type { Answer, Fixture } from './fixture.ts';
import type { Step } from './step.ts';

const keepId = (fixture: Fixture, answer: Answer) =>
  void fixture.known.set('id', (answer.json as { id: string }).id);

// Each is asked twice: by the host for one of its users, and by the user, who is `me`.
const byBoth = (step: Step): readonly Step[] => [
  { ...step, path: { uid: 'ann' } },
  { ...step, path: { uid: 'me' }, as: 'endUser' },
];

const letter = {
  uids: ['ann'],
  message: { title: 'Walked letter', body: 'Between us alone' },
  taxonomy: { category: 'letters' },
};
const inAnHour = Math.floor(Date.now() / 1000) + 3600;

export const inboxSteps: readonly Step[] = [
  { operation: 'inbox.writeSettings', body: { title: 'Walked inboxes', ttl: '60d' } },
  { operation: 'inbox.readSettings' },
  {
    operation: 'inbox.writeInbox',
    path: { inbox_key: 'news' },
    body: { title: 'Walked news', description: 'What is new', ttl: { default: '30d', letters: '12h' } },
    keep: fixture => void fixture.known.set('inbox_key', 'news'),
  },
  { operation: 'inbox.readInbox' },
  { operation: 'inbox.listInboxes' },
  {
    operation: 'inbox.broadcast',
    body: { message: { title: 'Walked to everyone', body: 'Everyone of ours' }, host_system_id: 'all-1' },
    status: 201,
  },
  { operation: 'inbox.bulk', body: { messages: [letter, { ...letter, host_system_id: 'letter-2' }] } },
  { operation: 'inbox.publish', body: { ...letter, host_system_id: 'letter-1' }, status: 201, keep: keepId },
  { operation: 'inbox.listSends' },
  { operation: 'inbox.readSend' },
  { operation: 'inbox.listReceipts' },
  { operation: 'inbox.exportReceipts', query: { format: 'csv' } },
  { operation: 'inbox.publicCounts' },
  { operation: 'inbox.listCategories' },
  ...byBoth({ operation: 'inbox.join' }),
  ...byBoth({ operation: 'inbox.feed', query: { category: 'letters', read: 'false' } }),
  ...byBoth({ operation: 'inbox.readMessage' }),
  ...byBoth({ operation: 'inbox.counts' }),
  ...byBoth({ operation: 'inbox.stream' }),
  ...byBoth({ operation: 'inbox.markRead' }),
  ...byBoth({ operation: 'inbox.markUnread' }),
  ...byBoth({ operation: 'inbox.archive' }),
  ...byBoth({ operation: 'inbox.unarchive' }),
  ...byBoth({ operation: 'inbox.snooze', body: { until: inAnHour } }),
  ...byBoth({ operation: 'inbox.unsnooze' }),
  ...byBoth({ operation: 'inbox.seeMany', body: { since: 0 } }),
  ...byBoth({ operation: 'inbox.readMany', body: { ids: ['{id}'] } }),
  ...byBoth({ operation: 'inbox.unreadMany', body: { ids: ['{id}'] } }),
  ...byBoth({ operation: 'inbox.archiveMany', body: { ids: ['{id}'] } }),
  { operation: 'inbox.redact' },
  { operation: 'inbox.redactHostId', path: { host_system_id: 'letter-2' } },
  { operation: 'inbox.publish', body: { ...letter, send_at: inAnHour }, status: 202, keep: keepId },
  { operation: 'inbox.listScheduled' },
  { operation: 'inbox.cancel' },
  {
    operation: 'inbox.publish',
    body: { ...letter, taxonomy: { category: 'walked' } },
    status: 201,
    keep: keepId,
  },
  { operation: 'inbox.redact' },
  { operation: 'inbox.deleteCategory', path: { category: 'walked' } },
  {
    operation: 'inbox.deleteCategory',
    path: { category: 'letters' },
    query: { messages: 'delete' },
    status: 202,
  },
  { operation: 'inbox.readCategoryErasure', path: { category: 'letters' } },
  { operation: 'inbox.writeInbox', path: { inbox_key: 'old' }, body: { title: 'Walked away' } },
  { operation: 'inbox.deleteInbox', path: { inbox_key: 'old' }, status: 202 },
  { operation: 'inbox.readErasure', path: { inbox_key: 'old' } },
];
