import type { LanguageModel, LanguageModelMiddleware } from 'ai';
import type { AnswerFormat } from '../state/answer-options.ts';
import type { ModelName } from './models.ts';

type Wrapped = Parameters<typeof import('ai').wrapLanguageModel>[0]['model'];

// A server of one's own may not know schemas; the model reads them in its instructions.
const knowsSchemas = ({ provider }: ModelName): boolean => provider !== 'openai-compatible';

/** Returns the model that is asked for this format, in the way of its provider. */
export async function withFormat(
  model: LanguageModel,
  name: ModelName,
  format: AnswerFormat | undefined,
): Promise<LanguageModel> {
  if (!format) return model;
  const { wrapLanguageModel } = await import('ai');
  const middleware: LanguageModelMiddleware = {
    specificationVersion: 'v3',
    transformParams: async ({ params }) => ({
      ...params,
      responseFormat: { type: 'json', ...(knowsSchemas(name) && format) },
    }),
  };
  return wrapLanguageModel({ model: model as Wrapped, middleware });
}
