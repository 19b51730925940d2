import {
  formatChanges,
  isReport,
  mergeChanges,
  noChanges,
  parseChanges,
  type StreamChanges,
} from '../storage/stream-changes.ts';

// Reports the commits of this process to the others, and receives theirs. A process wakes for what it reads, which costs
// more than the report, so each process says which streams its readers wait for and is told of those only. A change of
// the streams themselves is reported to everyone.
//
//   ''             anything may have changed
//   +7:120,9:121   streams 7 and 9 have changed, up to these sequences
//   ?7:119         a reader waits for records of stream 7 above this sequence
//   -7             nobody reads stream 7 at the moment

type Write = (line: string, onSent?: () => void) => void; // without `onSent`, it may be dropped if too much waits
type Link = {
  write: Write;
  wanted: Set<number> | undefined; // undefined: it has not said, because it has just begun or is an earlier version
  owed: StreamChanges; // not written yet
  isWriting: boolean;
};

// Under load, one report stands for the commits of a few milliseconds; after a pause it is sent at once.
const reportEveryMs = 2;
const wantShape = /^\?(\d{1,15}):(\d{1,15})$/;
const unwantShape = /^-(\d{1,15})$/;

export function createCommitReports(onChanges: (changes: StreamChanges) => void) {
  const links = new Set<Link>();
  const watched = new Set<number>(); // streams that readers of this process wait for
  const newest = new Map<number, number>(); // by stream: the last record that this process wrote
  let pending = noChanges;
  let reportedAtMs = 0;
  let later: NodeJS.Timeout | undefined;

  // One report at a time is under way to each process: one that does not read gets a single report for everything since.
  function deliver(link: Link): void {
    if (link.isWriting || link.owed?.size === 0) return;
    const line = formatChanges(link.owed);
    link.owed = noChanges;
    link.isWriting = true;
    link.write(line, () => {
      link.isWriting = false;
      deliver(link);
    });
  }

  function report(): void {
    later = undefined;
    reportedAtMs = performance.now();
    for (const link of links) {
      link.owed = mergeChanges(link.owed, wantedOf(link, pending));
      deliver(link);
    }
    pending = noChanges;
  }

  function notify(changes: StreamChanges): void {
    if (changes) for (const [streamId, sequence] of changes) newest.set(streamId, sequence);
    if (!isWanted(links, changes)) return;
    pending = mergeChanges(pending, changes);
    if (later) return;
    const waitMs = reportedAtMs + reportEveryMs - performance.now();
    if (waitMs <= 0) report();
    else later = setTimeout(report, Math.ceil(waitMs)).unref();
  }

  function connect(write: Write) {
    const link: Link = { write, wanted: undefined, owed: noChanges, isWriting: false };
    links.add(link);
    for (const streamId of watched) write(`?${streamId}:0`);
    if (watched.size === 0) write('-0'); // it will say what it wants
    return {
      receive(line: string): void {
        const wanted = wantShape.exec(line);
        const unwanted = unwantShape.exec(line);
        if (wanted) want(link, Number(wanted[1]), Number(wanted[2]));
        else if (unwanted) wantedBy(link).delete(Number(unwanted[1]));
        else if (isReport(line)) onChanges(parseChanges(line));
      },
      close: () => void links.delete(link),
    };
  }

  // A commit between the other's last look and this line was not reported to it.
  function want(link: Link, streamId: number, since: number): void {
    wantedBy(link).add(streamId);
    const sequence = newest.get(streamId) ?? 0;
    if (sequence <= since) return;
    link.owed = mergeChanges(link.owed, new Map([[streamId, sequence]]));
    deliver(link);
  }

  return {
    connect,
    notify,
    // A reader waits for a stream, after a look at everything up to `since`.
    watch(streamId: number, since: number): void {
      if (watched.has(streamId)) return;
      watched.add(streamId);
      for (const { write } of links) write(`?${streamId}:${since}`);
    },
    unwatch(streamId: number): void {
      if (!watched.delete(streamId)) return;
      for (const { write } of links) write(`-${streamId}`);
    },
    // Before the connections are closed.
    flush(): void {
      clearTimeout(later);
      report();
      for (const { owed, write } of links) if (owed?.size !== 0) write(formatChanges(owed));
    },
  };
}

function wantedBy(link: Link): Set<number> {
  link.wanted ??= new Set();
  return link.wanted;
}

function isWanted(links: ReadonlySet<Link>, changes: StreamChanges): boolean {
  if (!changes) return links.size > 0;
  for (const { wanted } of links) for (const id of changes.keys()) if (!wanted || wanted.has(id)) return true;
  return false;
}

function wantedOf({ wanted }: Link, changes: StreamChanges): StreamChanges {
  if (!wanted || !changes) return changes;
  return new Map([...changes].filter(([streamId]) => wanted.has(streamId)));
}
