import { isIP } from 'node:net';
import { buildConnector } from 'undici';
import type { AddressPolicy } from './address-policy.ts';
import { addressesTried, fallbackConnectMs } from './limits.ts';
import type { OutboundFailureReason } from './outcome.ts';
import type { Resolve } from './resolver.ts';

// The address of a connection, known once it is being established.
export type Peer = { address: string | undefined };

export class ConnectError extends Error {
  override readonly name = 'ConnectError';
  readonly reason: OutboundFailureReason;

  constructor(reason: OutboundFailureReason, message: string, cause?: unknown) {
    super(message, { cause });
    this.reason = reason;
  }
}

export type Connect = (target: buildConnector.Options, peer: Peer, done: buildConnector.Callback) => void;

// Resolves the name, checks every address, and connects to one of the permitted ones by its number. The name is not
// resolved again, so a DNS response that changes between check and use has no effect.
export function createConnect(settings: {
  policy: AddressPolicy;
  resolve: Resolve;
  connectMs: number;
  ca?: string | undefined;
}): Connect {
  const { policy, resolve, connectMs, ca } = settings;
  const tls = ca === undefined ? {} : { ca };
  const connectLast = buildConnector({ timeout: connectMs, ...tls });
  const connectFirst = buildConnector({ timeout: Math.min(fallbackConnectMs, connectMs), ...tls });

  const findAddresses = async (hostname: string): Promise<readonly string[]> => {
    const addresses = isIP(hostname) === 0 ? await lookUp(hostname, resolve) : [hostname];
    const refusals = new Map(addresses.map(address => [address, policy.refusal(address)]));
    const permitted = addresses.filter(address => refusals.get(address) === undefined);
    if (permitted.length > 0) return permitted.slice(0, addressesTried);
    const kinds = [...new Set(refusals.values())].join(', ');
    throw new ConnectError('blocked_address', `${hostname} has no address that may be reached (${kinds})`);
  };

  const open = async (target: buildConnector.Options, peer: Peer) => {
    const addresses = await findAddresses(target.hostname);
    const last = addresses.at(-1);
    // The certificate is checked against the name, not against the address.
    const servername = isIP(target.hostname) === 0 ? target.hostname : target.servername;
    for (const address of addresses) {
      peer.address = address;
      try {
        const connect = address === last ? connectLast : connectFirst;
        return await promiseSocket(connect, { ...target, hostname: address, servername });
      } catch (error) {
        const failure = asConnectError(error, address);
        if (address === last || failure.reason !== 'connect') throw failure;
      }
    }
    throw new ConnectError('dns', `${target.hostname} has no address`);
  };

  return (target, peer, done) => {
    open(target, peer).then(
      socket => done(null, socket),
      error => done(error, null),
    );
  };
}

async function lookUp(hostname: string, resolve: Resolve): Promise<readonly string[]> {
  let addresses: readonly string[];
  try {
    addresses = await resolve(hostname);
  } catch (error) {
    throw new ConnectError(
      'dns',
      `${hostname} does not resolve (${codeOf(error) || 'lookup failed'})`,
      error,
    );
  }
  if (addresses.length === 0) throw new ConnectError('dns', `${hostname} has no address`);
  return addresses;
}

type Socket = NonNullable<Parameters<buildConnector.Callback>[1]>;

function promiseSocket(connect: buildConnector.connector, target: buildConnector.Options): Promise<Socket> {
  return new Promise((resolve, reject) => {
    connect(target, (error, socket) => (socket ? resolve(socket) : reject(error)));
  });
}

const networkCodes =
  /^(?:ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN|ETIMEDOUT|EADDRNOTAVAIL|EACCES|EPERM|EMFILE|ENFILE|EINVAL|UND_ERR_CONNECT_TIMEOUT)$/;

function asConnectError(error: unknown, address: string): ConnectError {
  const code = codeOf(error);
  if (networkCodes.test(code))
    return new ConnectError('connect', `No connection to ${address} (${code})`, error);
  if (code === 'ECONNRESET' || code === 'EPIPE')
    return new ConnectError('reset', `${address} closed the connection while it was being made`, error);
  return new ConnectError('tls', `No secure connection to ${address} (${code || String(error)})`, error);
}

export const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
