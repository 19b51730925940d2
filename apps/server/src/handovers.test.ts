import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { type Child, watchHandovers } from './handovers.ts';

function openChild(findOther: () => Child | undefined = () => undefined) {
  const sent: { message: { seq: number }; connection: unknown }[] = [];
  const child = Object.assign(new EventEmitter(), {
    connected: true,
    send(message: unknown, connection?: unknown) {
      sent.push({ message: message as { seq: number }, connection });
      return true;
    },
  }) as Child;
  watchHandovers(child, findOther);
  const handOver = (seq: number) => {
    const connection = { closed: 0, close: () => void connection.closed++ };
    child.send({ cmd: 'NODE_CLUSTER', act: 'newconn', key: 'k', seq }, connection);
    return connection;
  };
  const accept = (seq: number) =>
    child.emit('internalMessage', { cmd: 'NODE_CLUSTER', ack: seq, accepted: true });
  const die = () => {
    child.connected = false;
    child.emit('disconnect');
  };
  return { child, sent, handOver, accept, die };
}

test('a connection that a killed worker did not accept goes to another one, and is closed here once that has it', () => {
  const other = openChild();
  const victim = openChild(() => other.child);
  const [taken, lost] = [victim.handOver(1), victim.handOver(2)];
  victim.accept(1);
  victim.child.send({ kind: 'stop' });
  victim.die();
  expect(other.sent.map(({ connection }) => connection)).toEqual([lost]);
  other.accept(other.sent[0]!.message.seq);
  expect([taken.closed, lost.closed]).toEqual([0, 1]); // Node closes the first itself
});

test('it is passed on again if that worker dies too, and closed if no worker is left', () => {
  const last = openChild();
  const second = openChild(() => (last.child.connected ? last.child : undefined));
  const first = openChild(() => second.child);
  const connection = first.handOver(1);
  first.die();
  second.die();
  expect(last.sent).toHaveLength(1);
  last.die();
  expect(connection.closed).toBe(1);
});
