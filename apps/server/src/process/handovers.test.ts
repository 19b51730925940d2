import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { type Child, createHandovers } from './handovers.ts';

function openChild(handovers = createHandovers(() => undefined)) {
  const sent: { message: { seq: number }; connection: unknown }[] = [];
  const child = Object.assign(new EventEmitter(), {
    connected: true,
    send(message: unknown, connection?: unknown) {
      sent.push({ message: message as { seq: number }, connection });
      return true;
    },
  }) as Child;
  handovers.watch(child);
  const handOver = (seq: number) => {
    const connection = { closed: 0, close: () => void connection.closed++ };
    child.send({ cmd: 'NODE_CLUSTER', act: 'newconn', key: 'k', seq }, connection);
    return connection;
  };
  const hear = (message: object) => child.emit('internalMessage', { cmd: 'NODE_CLUSTER', ...message });
  const accept = (seq: number) => hear({ ack: seq, accepted: true });
  const refuse = (seq: number) => hear({ ack: seq, accepted: false });
  const close = () => hear({ act: 'close', key: 'k' });
  const die = () => {
    child.connected = false;
    child.emit('disconnect');
  };
  return { child, sent, handOver, accept, refuse, close, die };
}

test('a connection that a killed worker did not accept goes to another one, and is closed here once that has it', () => {
  const other = openChild();
  const victim = openChild(createHandovers(() => other.child));
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
  const second = openChild(createHandovers(() => (last.child.connected ? last.child : undefined)));
  const first = openChild(createHandovers(() => second.child));
  const connection = first.handOver(1);
  first.die();
  second.die();
  expect(last.sent).toHaveLength(1);
  last.die();
  expect(connection.closed).toBe(1);
});

test('a connection that a worker refuses is left to Node, which queues it for the others, and closed if none listens', () => {
  const handovers = createHandovers(() => undefined);
  const [first, last] = [openChild(handovers), openChild(handovers)];
  const passedOn = first.handOver(1);
  first.close();
  first.refuse(1);
  expect(passedOn.closed).toBe(0);
  const refused = last.handOver(2);
  last.close();
  last.refuse(2);
  expect(refused.closed).toBe(1);
});
