import type { LanguageModel, LanguageModelMiddleware } from 'ai';
import type { AnswerFormat } from '../state/answer-options.ts';

type Wrapped = Parameters<typeof import('ai').wrapLanguageModel>[0]['model'];

/** Returns the model that is asked for this format, in the way of its provider. */
export async function withFormat(
  model: LanguageModel,
  format: AnswerFormat | undefined,
): Promise<LanguageModel> {
  if (!format) return model;
  const { wrapLanguageModel } = await import('ai');
  const middleware: LanguageModelMiddleware = {
    specificationVersion: 'v3',
    transformParams: async ({ params }) => ({ ...params, responseFormat: { type: 'json', ...format } }),
  };
  return wrapLanguageModel({ model: model as Wrapped, middleware });
}
