import OpenAI from 'openai';
import { expect, onTestFinished } from 'vitest';
import { createModels } from '../src/index.ts';
import { advanceUntil, type Fixture, type Options, openFixture } from './agents-fixture.ts';
import { type Behaviour, openStub } from './openai-stub.ts';

export const openAiPath = '/v1/tenants/acme/openai/v1';

// The client's own requests, answered by the routes of this process.
const fetchOf =
  (fixture: Fixture): typeof fetch =>
  async (input, init) =>
    fixture.app.request(String(input), init as RequestInit, { remoteAddress: '203.0.113.7' });

export const clientOf = (fixture: Fixture, apiKey = 'acme', maxRetries = 0): OpenAI =>
  new OpenAI({
    apiKey,
    baseURL: `http://localhost${openAiPath}`,
    fetch: fetchOf(fixture),
    maxRetries,
  });

// An agent whose model behaves like this, one behaviour for each request.
export async function openAgent(
  behaviours: readonly Behaviour[],
  { settings = {}, ...options }: Options & { settings?: Record<string, unknown> } = {},
) {
  const stub = await openStub(...behaviours);
  const models = createModels({
    openaiCompatible: { baseURL: stub.baseURL },
    default: { provider: 'openai-compatible', model: 'stub' },
    prices: { 'openai-compatible/stub': { input: 1, output: 2 } },
  });
  const fixture = await openFixture(undefined, { models, ...options });
  fixture.tenants.get('acme')!.settings = settings;
  onTestFinished(async () => {
    await stub.close();
    await fixture.target.close();
  });
  return { fixture, stub, models, client: clientOf(fixture), fetch: fetchOf(fixture) };
}

export const say =
  (...parts: string[]): Behaviour =>
  (_, stream) => {
    stream.text(...parts);
    stream.finish();
  };
export const call =
  (name: string, input: object, id = 'call_1'): Behaviour =>
  (_, stream) => {
    stream.call(name, JSON.stringify(input), id);
    stream.finish('tool_calls');
  };

export const weather = {
  type: 'function' as const,
  function: {
    name: 'weather',
    description: 'The weather in a city.',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
};
export const question = (content: string) => ({ role: 'user' as const, content });
export const failure = async (asked: PromiseLike<unknown>): Promise<InstanceType<typeof OpenAI.APIError>> => {
  const error = await Promise.resolve(asked).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(OpenAI.APIError);
  return error as InstanceType<typeof OpenAI.APIError>;
};

// Time passes until the request is over, for attempts that follow after a while.
export async function eventually<T>(fixture: Fixture, asked: Promise<T>): Promise<T> {
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  asked.then(over, over);
  await advanceUntil(fixture, () => isOver);
  return asked;
}
