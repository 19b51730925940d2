import { isDeepStrictEqual } from 'node:util';
import type { EventSink } from '@stak/http';
import { type Clock, createNotifier, type Ids, type Logger, type Notifier } from '@stak/kit';
import { type StreamSource, tailTable, type UnknownChange } from '@stak/streams';
import type { AnyTable, Attributes } from '@stak/table';
import { viewAttribute, viewItem } from './item-view.ts';
import * as limits from './limits.ts';
import type { ChangeView } from './schema.ts';

export type ChangesDeps = { source: StreamSource; clock: Clock; ids: Ids; log: Logger };

export type Changes = {
  follow(table: AnyTable, afterId: string | undefined, sink: EventSink): Promise<void>;
  close(): Promise<void>;
};

// One reader of a table's stream for all viewers: on AWS a shard may be read five times a second in total, and the
// services read it too. The last changes are kept for clients that reconnect.
type Tail = {
  epoch: string;
  last: number; // the number of the newest change
  kept: ChangeView[];
  notifiers: Set<Notifier>;
  stop: AbortController;
  ready: Promise<void>;
  ended: Promise<void>;
  failure?: unknown;
};

export function createChanges(deps: ChangesDeps): Changes {
  const { clock } = deps;
  const tails = new Map<string, Tail>();

  function open(table: AnyTable): Tail {
    const known = tails.get(table.name);
    if (known) return known;
    const tail = startTail(deps, table);
    tails.set(table.name, tail);
    tail.ended.then(() => {
      if (tails.get(table.name) === tail) tails.delete(table.name);
    });
    return tail;
  }

  async function linger(tail: Tail): Promise<void> {
    await clock.sleep(limits.lingerMs, tail.stop.signal).catch(() => {});
    if (tail.notifiers.size === 0) tail.stop.abort();
  }

  return {
    async follow(table, afterId, sink) {
      const tail = open(table);
      const notifier = createNotifier(clock);
      tail.notifiers.add(notifier);
      try {
        await tail.ready;
        const known = afterId === undefined ? tail.last : cursorIn(tail, afterId);
        let cursor = known ?? tail.last;
        sink.send({ id: idIn(tail, cursor), event: known === undefined ? 'gap' : 'ready', data: {} });
        while (!sink.signal.aborted) {
          if (tail.stop.signal.aborted) throw tail.failure ?? new Error('the stream is not read any more');
          cursor = await sendSince(tail, cursor, sink);
          await notifier.wait(limits.lookMs, sink.signal);
        }
      } finally {
        tail.notifiers.delete(notifier);
        if (tail.notifiers.size === 0) void linger(tail);
      }
    },
    async close() {
      for (const tail of tails.values()) tail.stop.abort();
      await Promise.all([...tails.values()].map(tail => tail.ended));
    },
  };
}

function startTail({ source, clock, ids, log }: ChangesDeps, table: AnyTable): Tail {
  const stop = new AbortController();
  const { promise: ready, resolve: onReady } = withResolvers();
  const tail: Tail = {
    epoch: ids.next(),
    last: 0,
    kept: [],
    notifiers: new Set(),
    stop,
    ready,
    ended: Promise.resolve(),
  };
  const notifyAll = () => {
    for (const notifier of tail.notifiers) notifier.notify();
  };
  const options = {
    source,
    table: table.name,
    clock,
    onReady,
    onChange: (change: UnknownChange) => {
      tail.last += 1;
      tail.kept.push(viewChange(table, change, clock.now()));
      if (tail.kept.length > limits.changesKept) tail.kept.shift();
      notifyAll();
    },
    // Clients at an older position learn that there is a gap.
    onMissed: () => {
      tail.last += 1;
      tail.kept = [];
      notifyAll();
    },
  };
  tail.ended = tailTable(options, stop.signal)
    .catch(error => {
      tail.failure = error;
      log.warn({ err: error, table: table.name }, 'the stream cannot be shown');
    })
    .then(() => {
      stop.abort();
      onReady();
      notifyAll();
    });
  return tail;
}

// Node 20 has no Promise.withResolvers.
function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>(settle => {
    resolve = settle;
  });
  return { promise, resolve };
}

const idIn = ({ epoch }: Tail, cursor: number): string => `${epoch}-${cursor}`;

function cursorIn({ epoch, last, kept }: Tail, id: string): number | undefined {
  const cursor = id.startsWith(`${epoch}-`) ? Number(id.slice(epoch.length + 1)) : Number.NaN;
  return Number.isInteger(cursor) && cursor <= last && cursor >= last - kept.length ? cursor : undefined;
}

async function sendSince(tail: Tail, from: number, sink: EventSink): Promise<number> {
  let cursor = from;
  while (cursor < tail.last && !sink.signal.aborted) {
    await sink.ready();
    const change = tail.kept[tail.kept.length - (tail.last - cursor)];
    if (change) {
      cursor += 1;
      sink.send({ id: idIn(tail, cursor), event: 'change', data: change });
    } else {
      cursor = tail.last;
      sink.send({ id: idIn(tail, cursor), event: 'gap', data: {} });
    }
  }
  return cursor;
}

function viewChange(table: AnyTable, change: UnknownChange, nowMs: number): ChangeView {
  const before = change.old;
  const stored = change.new ?? before ?? change.keys;
  const options = { nowMs, valueChars: limits.changeValueChars };
  const changed = change.new && before ? differences(table, before, change.new) : [];
  const view: ChangeView = {
    kind: change.kind,
    at: change.at.toISOString(),
    item: viewItem(table, stored, options),
    before: before && change.new ? viewBefore(before, changed) : null,
    changed,
  };
  if (JSON.stringify(view).length <= limits.changeChars) return view;
  return { ...view, item: { ...view.item, attributes: [] }, before: null };
}

const differences = ({ keyNames }: AnyTable, before: Attributes, after: Attributes): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter(name => !keyNames.has(name) && !isDeepStrictEqual(before[name], after[name]))
    .sort();

const viewBefore = (before: Attributes, changed: readonly string[]) =>
  changed
    .filter(name => Object.hasOwn(before, name))
    .map(name => viewAttribute(name, before[name], limits.changeValueChars));
