import { onTestFinished } from 'vitest';
import { createModels, type ModelsConfig } from '../src/index.ts';
import { type Fixture, openFixture, say, settle } from './agents-fixture.ts';
import { type Behaviour, openStub } from './openai-stub.ts';

type Summary = { summary?: string; about?: string; facts?: object[] };
// biome-ignore lint/suspicious/noExplicitAny: what a test reads from a request, it names itself.
type Given = any;

// A model that answers "Noted." to people, and with what it is given to those who ask for a summary.
export async function openSummaries(summaries: Summary[], config: ModelsConfig = {}, isModelThere = true) {
  const given: Given[] = [];
  let beforeSummary = async () => {};
  const behave: Behaviour = async ({ messages }, stream) => {
    const isSummary = messages[0].content.startsWith('You keep the memory');
    if (isSummary) {
      given.push(JSON.parse(messages[1].content));
      await beforeSummary();
    }
    const made = summaries[Math.min(given.length, summaries.length) - 1];
    stream.text(isSummary ? `Here it is:\n${JSON.stringify(made)}` : 'Noted.');
    stream.finish();
  };
  const stub = await openStub(behave);
  const models = isModelThere
    ? createModels({ openaiCompatible: { baseURL: stub.baseURL }, ...config })
    : undefined;
  const fixture = await openFixture(undefined, { models });
  onTestFinished(stub.close);
  onTestFinished(fixture.target.close);
  const settings: Record<string, unknown> = { enabled_skills: ['remember', 'forget'] };
  if (isModelThere) Object.assign(settings, { ai_provider: 'openai-compatible', ai_model: 'stub' });
  fixture.tenants.get('acme')!.settings = settings;
  const times = { created_at: '2026-01-01T00:00:00.000Z', updated_at: '2026-01-01T00:00:00.000Z' };
  await fixture.target.client.put({
    TableName: 'tenants',
    Item: { pk: 'TENANT#acme', sk: 'USER#ann', user_id: 'ann', version: 1, ...times },
  });
  const memories = async () => (await fixture.call('GET', path)).body.data;
  const about = async () => (await fixture.call('GET', `${path}-settings`)).body.memory_summary;
  return {
    ...{ stub, fixture, settings, given, memories, about, models },
    onSummary: (hook: () => Promise<void>) => {
      beforeSummary = hook;
    },
  };
}

export const path = '/v1/tenants/acme/users/ann/memory';
export const sayAs = (fixture: Fixture, text: string, id = 'c') => say(fixture, id, text, { user_id: 'ann' });
export const fallQuiet = async (fixture: Fixture) => {
  await fixture.clock.advance(11 * 60_000);
  await settle(fixture);
};
