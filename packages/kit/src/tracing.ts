import {
  type Attributes,
  context,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';

// OpenTelemetry, where somebody collects it. Where nobody does, work runs as if this were not there.

let isOn = false;

/** Spans are made from now on: an SDK is registered. */
export function setTracing(on: boolean): void {
  isOn = on;
}

/** Whether this process records traces. */
export const isTracing = (): boolean => isOn;

const kinds = { internal: SpanKind.INTERNAL, server: SpanKind.SERVER, client: SpanKind.CLIENT } as const;

/** What `inSpan` notes about its work, and the trace it belongs to. */
export type SpanOptions = {
  kind?: keyof typeof kinds;
  attributes?: Attributes;
  // Where the trace comes from: a `traceparent`, of a request or of what was stored with an item. What runs now, if
  // there is none.
  traceparent?: string | undefined;
  quietErrors?: boolean; // messages of its errors may quote what must not leave: only their names are noted
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
 * The span that runs now. Timers and loops that were begun by a request outlive it: what they do later is not part of
 * its trace.
 */
function running(): Span | undefined {
  const span = isOn ? trace.getActiveSpan() : undefined;
  return span?.isRecording() ? span : undefined;
}

/** Whether work that begins now belongs to a trace. */
export const isTraced = (): boolean => isOn && running() !== undefined;

/** What a request or an item carries so that others continue the trace. */
export function currentTraceparent(): string | undefined {
  if (!isTraced()) return undefined;
  const carrier: { traceparent?: string } = {};
  propagation.inject(context.active(), carrier);
  return carrier.traceparent;
}

/** For a line of a log. */
export function traceIds(): { trace_id: string; span_id: string } | undefined {
  const found = running()?.spanContext();
  return found && { trace_id: found.traceId, span_id: found.spanId };
}
