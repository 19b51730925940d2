import type { Answer, Fixture } from './fixture.ts';
import type { Step } from './step.ts';

const keep = (name: string) => (fixture: Fixture, answer: Answer) =>
  void fixture.known.set(name, (answer.json as Record<string, string>)[name]!);

// Nobody listens there: what is due is tried again until a later step cancels it.
const destinationUrl = 'http://127.0.0.1:65535/walked';

export const webhooksSteps: readonly Step[] = [
  {
    operation: 'webhooks.createSource',
    body: { name: 'Walked source', provider: 'custom', dedupeHeader: 'x-id' },
    status: 201,
    stranger: { anything: 'a source belongs to its creator' },
    keep: keep('sourceId'),
  },
  { operation: 'webhooks.listSources', stranger: 'own' },
  { operation: 'webhooks.readSource' },
  { operation: 'webhooks.editSource', body: { name: 'Walked source, edited', whilePaused: 'hold' } },
  { operation: 'webhooks.rotateAlertSecret' },
  { operation: 'webhooks.sendTestEvent' },
  {
    operation: 'webhooks.createConnection',
    body: { name: 'Walked connection', destinationUrl },
    status: 201,
    keep: keep('connectionId'),
  },
  { operation: 'webhooks.listConnections' },
  { operation: 'webhooks.readConnection' },
  { operation: 'webhooks.editConnection', body: { ordered: true, maxConcurrency: 2 } },
  { operation: 'webhooks.rotateSecret' },
  { operation: 'webhooks.testConnection', body: { body: '{"walked":true}', send: false } },
  { operation: 'webhooks.tryRules', body: { body: '{"walked":true}' } },
  { operation: 'webhooks.whatIf', body: { connectionId: '{connectionId}' } },
  {
    operation: 'webhooks.receive',
    as: 'nobody',
    path: { source_id: '{sourceId}' },
    body: { note: 'Walked payload' },
    stranger: { anything: 'anyone who knows the address may send' },
    keep: keep('eventId'),
  },
  { operation: 'webhooks.listEvents' },
  { operation: 'webhooks.listEvents', query: { q: 'Walked', status: 'failed' } },
  { operation: 'webhooks.listAllEvents', stranger: 'own' },
  { operation: 'webhooks.listAllEvents', query: { sourceIds: '{sourceId}', where: 'body.note = Walked' } },
  { operation: 'webhooks.tailEvents' },
  { operation: 'webhooks.readEvent' },
  { operation: 'system.why', path: { id: '{eventId}' } },
  { operation: 'webhooks.readBody' },
  { operation: 'webhooks.replayEvent', body: { connectionIds: ['{connectionId}'] }, status: 202 },
  { operation: 'webhooks.cancelEvent', body: { connectionIds: ['{connectionId}'] } },
  {
    operation: 'webhooks.createJob',
    body: { action: 'cancel', eventIds: ['{eventId}'] },
    status: 202,
    keep: keep('jobId'),
  },
  { operation: 'webhooks.listJobs', stranger: 'own' },
  { operation: 'webhooks.readJob' },
  { operation: 'webhooks.cancelJob' },
  { operation: 'webhooks.analytics', stranger: 'own' },
  { operation: 'webhooks.analytics', query: { sourceId: '{sourceId}' } },
  { operation: 'webhooks.listAlerts', stranger: 'own' },
  { operation: 'webhooks.deleteConnection' },
  { operation: 'webhooks.deleteSource' },
];
