import { isDeepStrictEqual } from 'node:util';
import type { EventSink } from '@stak/http';
import { type Bell, type Clock, createBell, type Ids, type Logger } from '@stak/kit';
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

// One reader of a table's stream for everybody who looks at it: on AWS a shard may be read five times a second by all
// together, and the services read it too. The last changes are kept for whoever comes back.
type Tail = {
  epoch: string;
  last: number; // the number of the newest change
  kept: ChangeView[];
  bells: Set<Bell>;
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
    if (tail.bells.size === 0) tail.stop.abort();
  }

  return {
    async follow(table, afterId, sink) {
      const tail = open(table);
      const bell = createBell(clock);
      tail.bells.add(bell);
      try {
        await tail.ready;
        const known = afterId === undefined ? tail.last : placeIn(tail, afterId);
        let place = known ?? tail.last;
        sink.send({ id: idIn(tail, place), event: known === undefined ? 'gap' : 'ready', data: {} });
        while (!sink.signal.aborted) {
          if (tail.stop.signal.aborted) throw tail.failure ?? new Error('the stream is not read any more');
          place = await sendSince(tail, place, sink);
          await bell.wait(limits.lookMs, sink.signal);
        }
      } finally {
        tail.bells.delete(bell);
        if (tail.bells.size === 0) void linger(tail);
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
    bells: new Set(),
    stop,
    ready,
    ended: Promise.resolve(),
  };
  const ring = () => {
    for (const bell of tail.bells) bell.ring();
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
      ring();
    },
    // Whoever is at an older place than this is told that there is a gap.
    onMissed: () => {
      tail.last += 1;
      tail.kept = [];
      ring();
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
      ring();
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

const idIn = ({ epoch }: Tail, place: number): string => `${epoch}-${place}`;

function placeIn({ epoch, last, kept }: Tail, id: string): number | undefined {
  const place = id.startsWith(`${epoch}-`) ? Number(id.slice(epoch.length + 1)) : Number.NaN;
  return Number.isInteger(place) && place <= last && place >= last - kept.length ? place : undefined;
}

async function sendSince(tail: Tail, from: number, sink: EventSink): Promise<number> {
  let place = from;
  while (place < tail.last && !sink.signal.aborted) {
    await sink.ready();
    const change = tail.kept[tail.kept.length - (tail.last - place)];
    if (change) {
      place += 1;
      sink.send({ id: idIn(tail, place), event: 'change', data: change });
    } else {
      place = tail.last;
      sink.send({ id: idIn(tail, place), event: 'gap', data: {} });
    }
  }
  return place;
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
