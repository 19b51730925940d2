import { expect } from 'vitest';
import { type Fixture, send } from './fixture.ts';
import { requestOf, tokenOf } from './step.ts';
import { steps } from './steps.ts';

// Creates one of everything, so that requests are not refused because something is missing. Ids that no step
// stores become `something`.
const sampleSteps = new Set([
  'tenants.create',
  'tenants.createUser',
  'tenants.mintToken',
  'inbox.writeInbox',
  'inbox.publish',
  'webhooks.createSource',
  'webhooks.createConnection',
  'webhooks.receive',
  'tasks.create',
  'tenants.claimChannel',
  'agents.createConversation',
  'agents.putCustomSkill',
]);

export async function createSamples(fixture: Fixture): Promise<void> {
  for (const step of steps.filter(one => sampleSteps.has(one.operation) && one.as !== 'endUser')) {
    const token = tokenOf(fixture, step, 'owner');
    const answer = await send(fixture.server.url, { ...requestOf(fixture, step), ...(token && { token }) });
    expect(answer.status, `${step.operation}: ${answer.text}`).toBeLessThan(300);
    step.keep?.(fixture, answer);
  }
  for (const [, name] of JSON.stringify([steps, fixture.operations]).matchAll(/\{(\w+)\}/g))
    if (!fixture.known.has(name!)) fixture.known.set(name!, 'something');
}
