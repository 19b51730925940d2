import { inSpan, isTracing, type TracedSpan } from '@stak/kit';
import type { LanguageModel, LanguageModelMiddleware } from 'ai';
import type { ModelName } from './models.ts';

// Requests to models as spans by OpenTelemetry's conventions for generative AI, without any content.
// https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/

export const inModelSpan = <T>(
  operation: 'chat' | 'embeddings',
  { provider, model }: ModelName,
  work: (span: TracedSpan) => Promise<T>,
): Promise<T> => {
  const attributes = {
    'gen_ai.operation.name': operation,
    'gen_ai.provider.name': providerNames[provider] ?? provider,
    'gen_ai.request.model': model,
  };
  // Providers' errors quote requests, and the SDK's quote responses.
  return inSpan(`${operation} ${model}`, { kind: 'client', attributes, quietErrors: true }, work);
};

// Providers for which the conventions have a different name.
const providerNames: Record<string, string> = { bedrock: 'aws.bedrock', google: 'gcp.gemini' };

/** Returns the model with a span for each request, in a process that records traces. */
export async function traceModel(model: LanguageModel, name: ModelName): Promise<LanguageModel> {
  if (!isTracing()) return model;
  const { wrapLanguageModel } = await import('ai');
  const middleware: LanguageModelMiddleware = {
    specificationVersion: 'v3',
    wrapStream: ({ doStream, params }) => streamInSpan(name, doStream, params.abortSignal),
  };
  return wrapLanguageModel({ model: model as Wrapped, middleware });
}

type Wrapped = Parameters<typeof import('ai').wrapLanguageModel>[0]['model'];
type Streamed = Awaited<ReturnType<Wrapped['doStream']>>;
type StreamPart = Streamed['stream'] extends ReadableStream<infer Part> ? Part : never;

// The span ends with the stream: at its end, on an error, or when its reader cancels.
const streamInSpan = (
  name: ModelName,
  doStream: () => PromiseLike<Streamed>,
  signal: AbortSignal | undefined,
): Promise<Streamed> =>
  new Promise((resolve, reject) => {
    inModelSpan('chat', name, async span => {
      const { stream, ...rest } = await doStream();
      const reader = stream.getReader();
      await new Promise<void>((end, fail) => {
        const observed = new ReadableStream<StreamPart>({
          async pull(controller) {
            try {
              const { done, value } = await reader.read();
              if (done) {
                controller.close();
                return end();
              }
              if (value.type === 'error') fail(value.error);
              notePart(span, value);
              controller.enqueue(value);
            } catch (error) {
              controller.error(error);
              fail(error);
            }
          },
          cancel(reason) {
            end();
            return reader.cancel(reason);
          },
        });
        signal?.addEventListener('abort', () => fail(signal.reason), { once: true });
        resolve({ ...rest, stream: observed });
      });
    }).catch(reject); // a stream that has begun reports the error to its reader
  });

function notePart(span: TracedSpan, part: StreamPart): void {
  if (part.type === 'response-metadata') {
    if (part.id !== undefined) span.setAttribute('gen_ai.response.id', part.id);
    if (part.modelId !== undefined) span.setAttribute('gen_ai.response.model', part.modelId);
  }
  if (part.type !== 'finish') return;
  const { inputTokens, outputTokens } = part.usage;
  span.setAttribute('gen_ai.response.finish_reasons', [part.finishReason.unified]);
  if (inputTokens.total !== undefined) span.setAttribute('gen_ai.usage.input_tokens', inputTokens.total);
  if (outputTokens.total !== undefined) span.setAttribute('gen_ai.usage.output_tokens', outputTokens.total);
}
