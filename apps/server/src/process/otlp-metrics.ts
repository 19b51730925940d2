import { randomUUID } from 'node:crypto';
import type { Logger } from '@stak/kit';
import type { MetricObjectWithValues, MetricValue, MetricValueWithName } from 'prom-client';
import type { TracingConfig } from '../config/tracing.ts';

type Metric = MetricObjectWithValues<MetricValue<string>>;
type Labels = Record<string, string | number>;

const timeoutMs = 10_000;
const cumulative = 2; // AggregationTemporality of OTLP

/**
 * Sends the metrics of /metrics to a collector, by OTLP over HTTP in JSON. Every process sends its own, with its own
 * `service.instance.id`.
 */
export function sendMetrics(
  { url, serviceName, headers, metricsEveryMs }: TracingConfig,
  read: () => Promise<readonly Metric[]>,
  log: Logger,
): { stop(): Promise<void> } {
  const attributes = attributesOf({ 'service.name': serviceName, 'service.instance.id': randomUUID() });
  const startTimeUnixNano = nanoseconds(performance.timeOrigin);
  let isAway = false;
  const send = async () => {
    const times = { startTimeUnixNano, timeUnixNano: nanoseconds(Date.now()) };
    const metrics = (await read()).map(metric => toOtlp(metric, times));
    const scopeMetrics = [{ scope: { name: 'stak' }, metrics }];
    const response = await fetch(`${url.replace(/\/$/, '')}/v1/metrics`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ resourceMetrics: [{ resource: { attributes }, scopeMetrics }] }),
      signal: AbortSignal.timeout(timeoutMs),
    });
    await response.body?.cancel();
    if (!response.ok) throw new Error(`the collector answered ${response.status}`);
  };
  const trySend = () =>
    send().then(
      () => {
        isAway = false;
      },
      error => {
        if (!isAway) log.warn({ err: error }, 'metrics could not be sent to the collector');
        isAway = true; // logged once
      },
    );
  let sending = Promise.resolve();
  const timer = setInterval(() => {
    sending = sending.then(trySend);
  }, metricsEveryMs).unref();
  return {
    // Also sends what happened since the last interval.
    stop() {
      clearInterval(timer);
      return sending.then(trySend);
    },
  };
}

type Times = { startTimeUnixNano: string; timeUnixNano: string };

function toOtlp({ name, help: description, type, values }: Metric, times: Times) {
  const point = ({ value, labels }: MetricValue<string>) => ({
    ...times,
    attributes: attributesOf(labels as Labels),
    asDouble: value,
  });
  switch (String(type)) {
    case 'counter': {
      const sum = { aggregationTemporality: cumulative, isMonotonic: true, dataPoints: values.map(point) };
      return { name, description, sum };
    }
    case 'histogram':
      return {
        name,
        description,
        histogram: histogramOf(name, values as MetricValueWithName<string>[], times),
      };
    default:
      return { name, description, gauge: { dataPoints: values.map(point) } };
  }
}

// Prometheus buckets are cumulative, OTLP's are not.
function histogramOf(name: string, values: readonly MetricValueWithName<string>[], times: Times) {
  const series = new Map<
    string,
    { labels: Labels; bounds: number[]; upTo: number[]; sum: number; count: number }
  >();
  for (const value of values) {
    const { le, ...labels } = value.labels as Labels;
    const key = JSON.stringify(Object.entries(labels).sort());
    const point = series.get(key) ?? { labels, bounds: [], upTo: [], sum: 0, count: 0 };
    series.set(key, point);
    if (value.metricName === `${name}_sum`) point.sum = value.value;
    else if (value.metricName === `${name}_count`) point.count = value.value;
    else if (le !== '+Inf') {
      point.bounds.push(Number(le));
      point.upTo.push(value.value);
    }
  }
  const dataPoints = [...series.values()].map(({ labels, bounds, upTo, sum, count }) => ({
    ...times,
    attributes: attributesOf(labels),
    count: String(count),
    sum,
    explicitBounds: bounds,
    bucketCounts: [...upTo, count].map((until, index) => String(until - (upTo[index - 1] ?? 0))),
  }));
  return { aggregationTemporality: cumulative, dataPoints };
}

const attributesOf = (labels: Labels) =>
  Object.entries(labels).map(([key, value]) => ({ key, value: { stringValue: String(value) } }));

const nanoseconds = (ms: number): string => `${BigInt(Math.round(ms)) * 1_000_000n}`;
