import { expect } from 'vitest';
import { requestOf, tokenOf } from './step.ts';
import { steps } from './steps.ts';
import { send, type World } from './world.ts';

// One of everything, so that what is sent gets past the doors. What no step of these keeps is called `something`.
const settlers = new Set([
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

export async function settle(world: World): Promise<void> {
  for (const step of steps.filter(one => settlers.has(one.operation) && one.as !== 'endUser')) {
    const token = tokenOf(world, step, 'owner');
    const answer = await send(world.server.url, { ...requestOf(world, step), ...(token && { token }) });
    expect(answer.status, `${step.operation}: ${answer.text}`).toBeLessThan(300);
    step.keep?.(world, answer);
  }
  for (const [, name] of JSON.stringify([steps, world.operations]).matchAll(/\{(\w+)\}/g))
    if (!world.known.has(name!)) world.known.set(name!, 'something');
}
