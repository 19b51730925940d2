import type { IncomingMessage } from 'node:http';

// Whether a host, as one listens on it or as a URL has it, is this machine itself. A name that only begins like an
// address of this machine is somebody else's.
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host);

export type Received = Pick<IncomingMessage, 'headers'> & {
  socket: Pick<IncomingMessage['socket'], 'remoteAddress' | 'localPort'>;
};

// Headers that proxies add, each under its own name.
const forwarding =
  /^(forwarded|via|x-forwarded.*|x-real-ip|x-client-ip|x-cluster-client-ip|x-original-.*|x-envoy-.*|true-client-ip|cf-.*|cdn-loop|fly-.*)$/;

// Whether a request was made on this machine, as far as can be seen: by a loopback address, for a loopback name with
// the port it came in by, and with nothing that a proxy adds. This is a reason to refuse, never one to trust: a proxy
// on this machine that rewrites Host and adds nothing looks the same.
export function isFromThisMachine(request: Received | undefined): boolean {
  if (!request) return false;
  const { headers, socket } = request;
  const peer = (socket.remoteAddress ?? '').replace(/^::ffff:/i, '');
  const [, name = '', port = '80'] = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(headers.host ?? '') ?? [];
  return (
    isLoopback(peer) &&
    isLoopback(name.toLowerCase()) &&
    Number(port) === socket.localPort &&
    !Object.keys(headers).some(header => forwarding.test(header))
  );
}
