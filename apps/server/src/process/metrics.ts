import type { Metrics, RequestRecord } from '@stak/http';
import type { EventLoopWatch, WorkerState } from '@stak/kit';
import type { Counters } from '@stak/streams';
import type { Ledger } from '@stak/table';
import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { isFromThisMachine } from '../config/loopback.ts';
import type { BackupState } from '../store/backup/backup-host.ts';
import type { Supervised } from './supervised.ts';

export type MetricsSources = {
  ledger: Ledger;
  eventLoop: EventLoopWatch;
  workers(): readonly WorkerState[];
  storage(): Promise<{ services: readonly { service: string; bytes: number }[] }>;
  consumers(): readonly { name: string; counters: Counters; shards: number }[];
  setAside(): Promise<readonly string[]>; // consumers with dead letters
  missed(): Promise<readonly string[]>; // consumers that have lost changes
  backup?(): BackupState | undefined; // in the process that ships it
  token: string | undefined;
  isProduction: boolean;
  supervised?: Pick<Supervised, 'answer' | 'gather' | 'worker'>;
};

const secondsBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

// Memory, processor time and garbage collection. Not the delay of the event loop: prom-client samples it a hundred
// times a second, which takes one percent of a core of an idle server, and `stak_event_loop_delay_seconds` has it too.
function collectProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 2 ** 31 - 1 });
  for (const { name } of registry.getMetricsAsArray())
    if (name.startsWith('nodejs_eventloop_lag')) registry.removeSingleMetric(name);
}

// The metrics at /metrics: the sum of all processes, from any of them. Names of routes and patterns come from the
// source, never from a caller, so the number of series is limited.
export function createMetrics(): {
  observe(record: RequestRecord): void;
  expose(measured: MetricsSources): Metrics;
  ofThisProcess: Registry['getMetricsAsJSON'];
} {
  const registers = [new Registry()];
  const [registry] = registers as [Registry];
  collectProcessMetrics(registry);
  const requests = new Histogram({
    name: 'stak_http_request_seconds',
    help: 'Time to answer a request, by route and status',
    labelNames: ['route', 'status'],
    buckets: secondsBuckets,
    registers,
  });
  return {
    ofThisProcess: () => registry.getMetricsAsJSON(),
    observe: ({ route, status, durationMs }) => requests.observe({ route, status }, durationMs / 1000),
    expose(measured) {
      exposeCapacity(registers, measured.ledger);
      exposeEventLoop(registers, measured.eventLoop);
      exposeWorkers(registers, measured);
      new Gauge({ name: 'stak_processes', help: 'Processes that serve', registers }).set(1);
      measured.supervised?.answer('metrics', () => readOwn(registry, measured.supervised!));
      exposeStorage(registers, measured);
      exposeLetters(registers, measured);
      exposeBackup(registers, measured);
      return {
        contentType: registry.contentType,
        read: measured.supervised ? () => readAll(registry, measured.supervised!) : () => registry.metrics(),
        ...(measured.token !== undefined && { token: measured.token }),
        // Metrics show what customers do, by route and table, so they are not public. In production they need a token:
        // a proxy on this machine that rewrites Host and adds no header looks like this machine.
        admits: request => !measured.isProduction && isFromThisMachine(request),
      };
    },
  };
}

type OfProcess = { worker: number | undefined; metrics: Awaited<ReturnType<Registry['getMetricsAsJSON']>> };

const readOwn = async (registry: Registry, { worker }: Pick<Supervised, 'worker'>): Promise<OfProcess> => ({
  worker,
  metrics: await registry.getMetricsAsJSON(),
});

// A process that is busy for seconds does not answer in time, and is missing from the sum. This one always is in it.
async function readAll(
  registry: Registry,
  supervised: Pick<Supervised, 'gather' | 'worker'>,
): Promise<string> {
  const answers = (await supervised.gather('metrics')) as (OfProcess | undefined)[];
  const all = answers.filter(answer => answer !== undefined);
  if (!all.some(({ worker }) => worker === supervised.worker)) all.push(await readOwn(registry, supervised));
  return AggregatorRegistry.aggregate(all.map(({ metrics }) => metrics)).metrics();
}

function exposeCapacity(registers: Registry[], ledger: Ledger): void {
  const labelNames = ['table', 'pattern'];
  new Counter({
    name: 'stak_capacity_units_total',
    help: 'Capacity units that DynamoDB bills, by access pattern',
    labelNames: [...labelNames, 'kind'],
    registers,
    collect() {
      this.reset();
      for (const { table, pattern, readUnits, writeUnits } of ledger.entries()) {
        this.inc({ table, pattern, kind: 'read' }, readUnits);
        this.inc({ table, pattern, kind: 'write' }, writeUnits);
      }
    },
  });
  new Counter({
    name: 'stak_store_calls_total',
    help: 'Calls to the store, by access pattern',
    labelNames,
    registers,
    collect() {
      this.reset();
      for (const { table, pattern, calls } of ledger.entries()) this.inc({ table, pattern }, calls);
    },
  });
}

function exposeEventLoop(registers: Registry[], watch: EventLoopWatch): void {
  new Gauge({
    name: 'stak_event_loop_delay_seconds',
    help: 'How late the serving thread was in the last ten to twenty seconds; of several processes the worst',
    labelNames: ['quantile'],
    registers,
    aggregator: 'max',
    collect() {
      const { p50Ms, p99Ms, maxMs } = watch.delay();
      this.set({ quantile: '0.5' }, p50Ms / 1000);
      this.set({ quantile: '0.99' }, p99Ms / 1000);
      this.set({ quantile: '1' }, maxMs / 1000);
    },
  });
  new Counter({
    name: 'stak_event_loop_blocked_total',
    help: 'Turns of the event loop that took longer than 200 ms',
    registers,
    collect() {
      this.reset();
      this.inc(watch.blocked());
    },
  });
}

// In total: a series for each account would be one per customer.
function exposeStorage(registers: Registry[], { storage }: MetricsSources): void {
  new Gauge({
    name: 'stak_storage_bytes',
    help: 'Bytes that accounts have in the tables, by service',
    labelNames: ['service'],
    registers,
    aggregator: 'max', // every process reads the same counts
    async collect() {
      this.reset();
      for (const { service, bytes } of (await storage()).services) this.set({ service }, bytes);
    },
  });
}

function exposeLetters(registers: Registry[], { setAside, missed }: MetricsSources): void {
  const expose = (name: string, help: string, read: () => Promise<readonly string[]>) =>
    new Gauge({
      name,
      help,
      labelNames: ['consumer'],
      registers,
      aggregator: 'max', // every process reads the same
      async collect() {
        this.reset();
        for (const consumer of await read()) this.set({ consumer }, 1);
      },
    });
  expose('stak_stream_dead_letters', 'Consumers that have records set aside (1)', setAside);
  expose('stak_stream_missed', 'Consumers that have lost changes (1)', missed);
}

// Only the process that ships has values.
function exposeBackup(registers: Registry[], { backup }: MetricsSources): void {
  const gauge = (name: string, help: string, read: (state: BackupState) => number | undefined) =>
    new Gauge({
      name,
      help,
      registers,
      aggregator: 'max',
      collect() {
        this.reset();
        const state = backup?.();
        const value = state && read(state);
        if (value === undefined) this.remove();
        else this.set(value);
      },
    });
  gauge('stak_backup_lag_seconds', 'How old the newest write is that a backup may lack', state =>
    state.shippedUntil === 0 ? undefined : state.lagMs / 1000,
  );
  gauge('stak_backup_snapshot_timestamp_seconds', 'When the newest snapshot was taken', ({ snapshotAt }) =>
    snapshotAt === 0 ? undefined : snapshotAt / 1000,
  );
  const counter = (name: string, help: string, read: (state: BackupState) => number) =>
    new Counter({
      name,
      help,
      registers,
      collect() {
        this.reset();
        const state = backup?.();
        if (state) this.inc(read(state));
      },
    });
  counter(
    'stak_backup_failures_total',
    'Attempts to ship or to take a snapshot that failed',
    state => state.failures,
  );
  counter('stak_backup_gaps_total', 'How often a new log had to be started', state => state.gaps);
}

function exposeWorkers(registers: Registry[], { workers, consumers }: MetricsSources): void {
  new Gauge({
    name: 'stak_worker_running',
    help: 'Whether a worker runs (1) or waits to be restarted (0), in every process that has it',
    labelNames: ['worker'],
    registers,
    aggregator: 'min',
    collect() {
      for (const { name, status } of workers()) this.set({ worker: name }, status === 'running' ? 1 : 0);
    },
  });
  new Counter({
    name: 'stak_worker_restarts_total',
    help: 'How often a worker failed and was restarted',
    labelNames: ['worker'],
    registers,
    collect() {
      this.reset();
      for (const { name, restarts } of workers()) this.inc({ worker: name }, restarts);
    },
  });
  new Gauge({
    name: 'stak_stream_shards',
    help: 'Shards of streams that are read here, by consumer',
    labelNames: ['consumer'],
    registers,
    collect() {
      for (const { name, shards } of consumers()) this.set({ consumer: name }, shards);
    },
  });
  new Counter({
    name: 'stak_stream_records_total',
    help: 'Records of streams, by consumer and outcome',
    labelNames: ['consumer', 'outcome'],
    registers,
    collect() {
      this.reset();
      for (const { name, counters } of consumers())
        for (const [outcome, count] of Object.entries(counters))
          if (typeof count === 'number') this.inc({ consumer: name, outcome }, count);
    },
  });
}
