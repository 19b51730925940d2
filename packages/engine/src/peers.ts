import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join as joinPath } from 'node:path';
import { makeFolder } from './storage/file.ts';

// Every process or thread that opens a store listens on a socket in the store's folder and is connected to all
// others. An empty line on a connection says that something was committed, another one is a message; a connection that
// closes says that its other end is gone, `kill -9` included. The kernel keeps both promises, so nobody polls and no clock is involved.

export type Peers = {
  // Names this opening of the store. None: the folder takes no sockets, and nobody can tell whether we are alive.
  readonly id: string | undefined;
  // Tells the others that something was committed.
  ring(): void;
  // Whether that opening of the store is over. False also where it cannot be told.
  isGone(id: string): Promise<boolean>;
  // Tells one of the others, or all, something that is stored nowhere. Lost if it is not read in time.
  send(topic: string, body: unknown, to?: string): void;
  close(): void;
};

export type PeerEvents = {
  // Another process has committed something.
  rung(): void;
  // Another process has opened the store, and can be told something.
  joined(id: string): void;
  // Another process has closed the store, or is dead.
  gone(id: string): void;
  received(topic: string, body: unknown, from: string): void;
};

const alone: Peers = { id: undefined, ring() {}, isGone: async () => false, send() {}, close() {} };

// Under load one byte stands for the commits of a few milliseconds; after a pause it is sent at once.
const ringEveryMs = 2;
const draftMs = 60_000; // a socket that never got its name belongs to somebody who died while starting
const longestPath = 100; // the kernel takes 104 to 108 bytes
const messageBytes = 1024 * 1024; // one that is larger is not sent
const waitingBytes = 4 * messageBytes; // of messages that the other side has not read
const idShape = /^[0-9]+-[0-9a-f]{16}$/;

export async function joinPeers(folder: string, events: PeerEvents): Promise<Peers> {
  if (folder === ':memory:' || process.platform === 'win32') return alone;
  try {
    return await meetPeers(openSockets(folder), events);
  } catch {
    return alone;
  }
}

// Where sockets are. A long path is shortened by way of a handle of the folder.
function openSockets(folder: string) {
  const path = joinPath(folder, 'processes');
  makeFolder(path);
  const handle = openSync(path, 'r');
  const short = process.platform === 'linux' && path.length + 40 > longestPath;
  const base = short ? `/proc/self/fd/${handle}` : path;
  return {
    list: () => readdirSync(path),
    pathOf: (name: string) => joinPath(base, name),
    ageMs: (name: string) => Date.now() - statSync(joinPath(path, name)).mtimeMs,
    rename: (from: string, to: string) => renameSync(joinPath(path, from), joinPath(path, to)),
    remove: (name: string) => rmSync(joinPath(path, name), { force: true }),
    close: () => closeSync(handle),
  };
}

type Sockets = ReturnType<typeof openSockets>;

async function meetPeers(sockets: Sockets, events: PeerEvents): Promise<Peers> {
  const id = `${process.pid}-${randomBytes(8).toString('hex')}`;
  const connections = new Map<Socket, string>();
  const bell = createBell(connections);
  const dead = new Set<string>();
  let isClosed = false;

  const known = (peer: string): boolean => peer === id || [...connections.values()].includes(peer);

  function keep(socket: Socket, peer: string, rest: Buffer = nothing): void {
    const isNew = !known(peer);
    connections.set(socket, peer);
    socket.unref().setNoDelay();
    const read = readLines(line => receive(line, peer));
    read(rest);
    socket.on('data', chunk => {
      read(chunk);
      // Whatever has come, it was sent after the commits that it was to tell of.
      events.rung();
    });
    socket.on('error', () => {});
    if (isNew) events.joined(peer);
    socket.on('close', () => {
      connections.delete(socket);
      if (!isClosed && ![...connections.values()].includes(peer)) events.gone(peer);
    });
  }

  function receive(line: string, from: string): void {
    if (isClosed) return;
    try {
      const [topic, body] = JSON.parse(line) as [string, unknown];
      events.received(topic, body, from);
    } catch {
      // Of another version.
    }
  }

  const server = createServer(socket => {
    socket.on('error', () => {});
    socket.once('data', hello => {
      const end = hello.indexOf(newline);
      const peer = hello.toString('latin1', 0, Math.max(0, end));
      if (!idShape.test(peer) || isClosed) return socket.destroy();
      keep(socket, peer, hello.subarray(end + 1));
      // For what was committed between the start of one and the hello to the other.
      socket.write(notifier);
      events.rung();
    });
  }).unref();

  // A draft name until it listens: a socket that refuses is taken for a dead one.
  const draft = `.${id}`;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    // A worker of a cluster would else ask its primary to listen.
    server.listen({ path: sockets.pathOf(draft), exclusive: true }, resolve);
  });
  server.on('error', () => {});
  sockets.rename(draft, id);

  async function meet(peer: string): Promise<void> {
    const socket = await call(sockets, peer);
    if (socket === 'gone') return sockets.remove(peer);
    if (socket === 'unknown') return;
    socket.write(`${id}\n`);
    keep(socket, peer);
  }

  for (const name of sockets.list()) {
    if (name.startsWith('.')) removeOldDraft(sockets, name);
  }
  await Promise.all(
    sockets
      .list()
      .filter(name => idShape.test(name) && name !== id)
      .map(meet),
  );

  async function isGone(peer: string): Promise<boolean> {
    if (!idShape.test(peer) || known(peer) || isClosed) return false;
    if (dead.has(peer)) return true;
    const socket = await call(sockets, peer);
    if (typeof socket === 'object') socket.destroy();
    if (socket !== 'gone') return false;
    // Ids are never used again.
    dead.add(peer);
    return true;
  }

  function send(topic: string, body: unknown, to?: string): void {
    if (connections.size === 0 || isClosed) return;
    const line = Buffer.from(`${JSON.stringify([topic, body])}\n`);
    if (line.length > messageBytes) return;
    // Two that start at once have two connections.
    const sent = new Set<string>();
    for (const [socket, peer] of connections) {
      if ((to !== undefined && peer !== to) || sent.has(peer)) continue;
      sent.add(peer);
      if (socket.writableLength + line.length <= waitingBytes) socket.write(line);
    }
  }

  function close(): void {
    if (isClosed) return;
    bell.flush();
    isClosed = true;
    try {
      sockets.remove(id);
    } catch {} // a disk that has become read-only; nobody answers there any more, which says the same
    for (const socket of connections.keys()) socket.destroySoon();
    server.close();
    sockets.close();
  }

  return { id, ring: bell.ring, isGone, send, close };
}

// The socket of a process that answers, or whether it is certain that none does.
function call(sockets: Sockets, peer: string): Promise<Socket | 'gone' | 'unknown'> {
  return new Promise(resolve => {
    const socket = connect({ path: sockets.pathOf(peer) });
    socket.once('connect', () => resolve(socket));
    socket.once('error', (error: NodeJS.ErrnoException) =>
      resolve(error.code === 'ECONNREFUSED' || error.code === 'ENOENT' ? 'gone' : 'unknown'),
    );
  });
}

// Tells all others that something was committed: at once after a pause, every few milliseconds under load.
function createBell(connections: ReadonlyMap<Socket, string>) {
  let rungAt = 0;
  let later: NodeJS.Timeout | undefined;
  const ringNow = () => {
    later = undefined;
    rungAt = performance.now();
    // One whose buffer is not empty has not heard the last one yet.
    for (const socket of connections.keys()) if (socket.writableLength === 0) socket.write(notifier);
  };
  return {
    ring(): void {
      if (connections.size === 0 || later) return;
      const waitMs = rungAt + ringEveryMs - performance.now();
      if (waitMs <= 0) ringNow();
      else later = setTimeout(ringNow, Math.ceil(waitMs)).unref();
    },
    flush(): void {
      if (!later) return;
      clearTimeout(later);
      ringNow();
    },
  };
}

const notifier = Buffer.from('\n');
const newline = notifier[0]!;
const nothing = Buffer.alloc(0);

// Hands over each line that is not empty.
function readLines(onLine: (line: string) => void): (chunk: Buffer) => void {
  let begun: Buffer[] = [];
  return chunk => {
    let from = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, from)) {
      begun.push(chunk.subarray(from, end));
      from = end + 1;
      const line = begun.length === 1 ? begun[0]! : Buffer.concat(begun);
      begun = [];
      if (line.length > 0) onLine(line.toString());
    }
    if (from < chunk.length) begun.push(chunk.subarray(from));
  };
}

function removeOldDraft(sockets: Sockets, name: string): void {
  try {
    if (sockets.ageMs(name) > draftMs) sockets.remove(name);
  } catch {
    // Its owner was quicker.
  }
}
