import {
  type Attributes,
  context,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';

// OpenTelemetry, if an SDK is registered. Without one, these functions only run the work.

let isOn = false;

/** Enables spans: call it when an SDK is registered. */
export function setTracing(on: boolean): void {
  isOn = on;
}

/** Whether this process records traces. */
export const isTracing = (): boolean => isOn;

const kinds = { internal: SpanKind.INTERNAL, server: SpanKind.SERVER, client: SpanKind.CLIENT } as const;

/** Attributes of a span, and the trace it belongs to. */
export type SpanOptions = {
  kind?: keyof typeof kinds;
  attributes?: Attributes;
  // The parent of the trace: a `traceparent`, of a request or of a stored item. Default: the current span.
  traceparent?: string | undefined;
  quietErrors?: boolean; // error messages may contain private data: only their names are recorded
};
/** A span, as far as the work inside it may describe it. */
export type TracedSpan = Pick<Span, 'setAttribute' | 'setAttributes'>;

const nothing: TracedSpan = {
  setAttribute: () => nothing as Span,
  setAttributes: () => nothing as Span,
};

/** Runs work as a span. An error ends the span as failed and is rethrown. */
export async function inSpan<T>(
  name: string,
  { kind = 'internal', attributes = {}, traceparent, quietErrors = false }: SpanOptions,
  work: (span: TracedSpan) => T | Promise<T>,
): Promise<T> {
  if (!isOn) return work(nothing);
  const parent =
    traceparent === undefined ? context.active() : propagation.extract(context.active(), { traceparent });
  const span = tracer().startSpan(name, { kind: kinds[kind], attributes }, parent);
  try {
    return await context.with(trace.setSpan(parent, span), () => work(span));
  } catch (error) {
    span.setAttribute('error.type', error instanceof Error ? error.name : '_OTHER');
    if (!quietErrors) span.recordException(error instanceof Error ? error : String(error));
    span.setStatus({ code: SpanStatusCode.ERROR });
    throw error;
  } finally {
    span.end();
  }
}

const tracer = () => trace.getTracer('stak');

/**
 * The current span. Timers and loops that a request started outlive it: what they do later is not part of its trace.
 */
function running(): Span | undefined {
  const span = isOn ? trace.getActiveSpan() : undefined;
  return span?.isRecording() ? span : undefined;
}

/** Whether work that starts now belongs to a trace. */
export const isTraced = (): boolean => isOn && running() !== undefined;

/** The traceparent for a request or an item, so that others continue the trace. */
export function currentTraceparent(): string | undefined {
  if (!isTraced()) return undefined;
  const carrier: { traceparent?: string } = {};
  propagation.inject(context.active(), carrier);
  return carrier.traceparent;
}

/** The ids of the current trace, for a log line. */
export function traceIds(): { trace_id: string; span_id: string } | undefined {
  const context = running()?.spanContext();
  return context && { trace_id: context.traceId, span_id: context.spanId };
}
