import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, openSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join as joinPath } from 'node:path';
import { makeFolder } from './storage/file.ts';
import type { StreamChanges } from './storage/stream-changes.ts';
import { createCommitReports } from './streams/commit-reports.ts';

// A peer is a process or thread that has the store open. Each listens on a socket in the store's folder and is
// connected to all others. A line on a connection is a message if it begins with a bracket, and otherwise about commits
// (`commit-reports.ts`). When a peer ends, even by `kill -9`, the kernel closes its connections, so liveness needs
// neither polling nor a clock.

export type Peers = {
  // Identifies this peer. Undefined if the folder allows no sockets, so that others cannot tell whether it is alive.
  readonly id: string | undefined;
  // Tells the others what was committed.
  notifyCommit(changes: StreamChanges): void;
  // Whether this peer has readers of a stream, who are to hear of the others' commits.
  watch(streamId: number, since: number): void;
  unwatch(streamId: number): void;
  // Whether a peer has ended. False if that is not known.
  isGone(id: string): Promise<boolean>;
  // Sends a message to one peer, or to all. It is stored nowhere, and lost if it is not read in time.
  send(topic: string, body: unknown, to?: string): void;
  close(): void;
};

export type PeerEvents = {
  // Another peer has committed something.
  onCommit(changes: StreamChanges): void;
  // Another peer has opened the store and can receive messages.
  joined(id: string): void;
  // Another peer has closed the store, or died.
  gone(id: string): void;
  received(topic: string, body: unknown, from: string): void;
};

const alone: Peers = {
  id: undefined,
  notifyCommit() {},
  watch() {},
  unwatch() {},
  isGone: async () => false,
  send() {},
  close() {},
};

const draftMs = 60_000; // a socket that was never renamed belongs to a process that died while starting
const longestPath = 100; // the kernel takes 104 to 108 bytes
const messageBytes = 1024 * 1024; // larger messages are not sent
const waitingBytes = 4 * messageBytes; // messages that the other side has not read
const idShape = /^[0-9]+-[0-9a-f]{16}$/;

export async function joinPeers(folder: string, events: PeerEvents): Promise<Peers> {
  if (folder === ':memory:' || process.platform === 'win32') return alone;
  try {
    return await meetPeers(openSockets(folder), events);
  } catch {
    return alone;
  }
}

// Whether a process that has the store open accepts connections.
export async function hasLivePeer(folder: string): Promise<boolean> {
  if (process.platform === 'win32' || !existsSync(joinPath(folder, 'processes'))) return false;
  const sockets = openSockets(folder);
  try {
    const names = sockets.list().filter(name => idShape.test(name));
    const answers = await Promise.all(names.map(name => call(sockets, name)));
    for (const socket of answers) if (typeof socket === 'object') socket.destroy();
    return answers.some(socket => typeof socket === 'object');
  } finally {
    sockets.close();
  }
}

// The folder of the sockets. A long path is shortened through a handle of the folder.
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
  const reports = createCommitReports(events.onCommit);
  const dead = new Set<string>();
  let isClosed = false;

  const isKnown = (peer: string): boolean => peer === id || [...connections.values()].includes(peer);

  function keep(socket: Socket, peer: string, rest: Buffer = nothing): void {
    const isNew = !isKnown(peer);
    connections.set(socket, peer);
    socket.unref().setNoDelay();
    const link = reports.connect((line, onSent) => {
      if (onSent || socket.writableLength <= waitingBytes) socket.write(`${line}\n`, onSent);
    });
    const read = readLines(line => {
      if (isClosed) return;
      if (line.startsWith('[')) receive(line, peer);
      else link.receive(line);
    });
    read(rest);
    socket.on('data', read);
    socket.on('error', () => {});
    if (isNew) events.joined(peer);
    socket.on('close', () => {
      connections.delete(socket);
      link.close();
      if (!isClosed && ![...connections.values()].includes(peer)) events.gone(peer);
    });
  }

  function receive(line: string, from: string): void {
    try {
      const [topic, body] = JSON.parse(line) as [string, unknown];
      events.received(topic, body, from);
    } catch {
      // Sent by another version.
    }
  }

  const server = createServer(socket => {
    socket.on('error', () => {});
    socket.once('data', hello => {
      const end = hello.indexOf(newline);
      const peer = hello.toString('latin1', 0, Math.max(0, end));
      if (!idShape.test(peer) || isClosed) return socket.destroy();
      keep(socket, peer, hello.subarray(end + 1));
      // For commits between the start of one peer and the hello to the other.
      socket.write('\n');
      events.onCommit(undefined);
    });
  }).unref();

  // A draft name until it listens, because a socket that refuses connections counts as dead.
  const draft = `.${id}`;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    // In a cluster, a worker would otherwise ask its primary to listen.
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
    if (!idShape.test(peer) || isKnown(peer) || isClosed) return false;
    if (dead.has(peer)) return true;
    const socket = await call(sockets, peer);
    if (typeof socket === 'object') socket.destroy();
    if (socket !== 'gone') return false;
    // Ids are never reused.
    dead.add(peer);
    return true;
  }

  function send(topic: string, body: unknown, to?: string): void {
    if (connections.size === 0 || isClosed) return;
    const line = Buffer.from(`${JSON.stringify([topic, body])}\n`);
    if (line.length > messageBytes) return;
    // Two peers that start at the same time have two connections.
    const sent = new Set<string>();
    for (const [socket, peer] of connections) {
      if ((to !== undefined && peer !== to) || sent.has(peer)) continue;
      sent.add(peer);
      if (socket.writableLength + line.length <= waitingBytes) socket.write(line);
    }
  }

  function close(): void {
    if (isClosed) return;
    reports.flush();
    isClosed = true;
    try {
      sockets.remove(id);
    } catch {} // the disk has become read-only; the socket refuses connections, which says the same
    for (const socket of connections.keys()) socket.destroySoon();
    server.close();
    sockets.close();
  }

  const { notify: notifyCommit, watch, unwatch } = reports;
  return { id, notifyCommit, watch, unwatch, isGone, send, close };
}

// The socket of a peer that accepts connections, or whether it is certain that it has ended.
function call(sockets: Sockets, peer: string): Promise<Socket | 'gone' | 'unknown'> {
  return new Promise(resolve => {
    const socket = connect({ path: sockets.pathOf(peer) });
    socket.once('connect', () => resolve(socket));
    socket.once('error', (error: NodeJS.ErrnoException) =>
      resolve(error.code === 'ECONNREFUSED' || error.code === 'ENOENT' ? 'gone' : 'unknown'),
    );
  });
}

const newline = 0x0a;
const nothing = Buffer.alloc(0);

// Calls back with each line.
function readLines(onLine: (line: string) => void): (chunk: Buffer) => void {
  let begun: Buffer[] = [];
  return chunk => {
    let from = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, from)) {
      begun.push(chunk.subarray(from, end));
      from = end + 1;
      const line = begun.length === 1 ? begun[0]! : Buffer.concat(begun);
      begun = [];
      onLine(line.toString());
    }
    if (from < chunk.length) begun.push(chunk.subarray(from));
  };
}

function removeOldDraft(sockets: Sockets, name: string): void {
  try {
    if (sockets.ageMs(name) > draftMs) sockets.remove(name);
  } catch {
    // Its owner has renamed or removed it.
  }
}
