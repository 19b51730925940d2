import { setTimeout } from 'node:timers/promises';
import { setTracing } from '@stak/kit';
import { z } from 'zod';

export type TracingConfig = {
  url: string;
  serviceName: string;
  ratio: number;
  headers: Record<string, string>;
  metricsEveryMs: number;
};

// Like `api-key=abc,tenant=shop`, percent-encoded.
const headers = z
  .string()
  .transform(text => text.split(',').filter(part => part.trim() !== ''))
  .transform((parts, context) => {
    const pairs = parts.map(part => /^\s*([!#$%&'*+.^_`|~\w-]+)\s*=\s*([^\r\n]*?)\s*$/.exec(part));
    if (pairs.includes(null)) context.addIssue('must be like name=value,other=value');
    return Object.fromEntries(pairs.map(pair => [pair?.[1] ?? '', decoded(pair?.[2] ?? '')]));
  });

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

export const tracingVariables = {
  OTEL_EXPORTER_OTLP_ENDPOINT: z.url().optional(),
  OTEL_EXPORTER_OTLP_HEADERS: headers.optional(),
  OTEL_SERVICE_NAME: z.string().min(1).default('stak'),
  OTEL_METRIC_EXPORT_INTERVAL: z.coerce.number().int().min(100).max(3_600_000).default(60_000),
  OTEL_TRACES_SAMPLER_ARG: z.coerce.number().min(0).max(1).default(1),
};
type TracingVariables = z.output<z.ZodObject<typeof tracingVariables>>;

export const tracingOf = (data: TracingVariables): TracingConfig | undefined =>
  data.OTEL_EXPORTER_OTLP_ENDPOINT === undefined
    ? undefined
    : {
        url: data.OTEL_EXPORTER_OTLP_ENDPOINT,
        serviceName: data.OTEL_SERVICE_NAME,
        ratio: data.OTEL_TRACES_SAMPLER_ARG,
        headers: data.OTEL_EXPORTER_OTLP_HEADERS ?? {},
        metricsEveryMs: data.OTEL_METRIC_EXPORT_INTERVAL,
      };

const flushMs = 2_000; // for the remaining spans when the server stops

/** Collects spans and sends them to a collector, until it is stopped. Loaded only if it is configured. */
export async function startTracing(config: TracingConfig): Promise<() => Promise<void>> {
  const [
    { context, propagation, trace },
    { AsyncLocalStorageContextManager },
    { OTLPTraceExporter },
    { resourceFromAttributes },
    { BatchSpanProcessor, ParentBasedSampler, TraceIdRatioBasedSampler, TracerProvider },
    { W3CTraceContextPropagator },
  ] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/context-async-hooks'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/core'),
  ]);
  const { url, serviceName, ratio, headers } = config;
  const exporter = new OTLPTraceExporter({ url: `${url.replace(/\/$/, '')}/v1/traces`, headers });
  const provider = new TracerProvider({
    // The sampling decision of a trace that started elsewhere is kept.
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
    resource: resourceFromAttributes({ 'service.name': serviceName }),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  const contexts = new AsyncLocalStorageContextManager().enable();
  context.setGlobalContextManager(contexts);
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  trace.setGlobalTracerProvider(provider);
  setTracing(true);
  return async () => {
    setTracing(false);
    // An unreachable collector does not delay the stop.
    await Promise.race([provider.shutdown().catch(() => {}), setTimeout(flushMs, undefined, { ref: false })]);
    trace.disable();
    propagation.disable();
    context.disable();
  };
}
