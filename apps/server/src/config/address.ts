// IPv6 addresses are in brackets in a URL.
export const urlOf = (host: string, port: number): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`;

// Addresses to listen on that cannot be called.
const everywhere = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
]);

/** The URL by which this machine reaches a server that listens there. */
export const localUrlOf = (host: string, port: number): string => urlOf(everywhere.get(host) ?? host, port);
