import type { IncomingMessage } from 'node:http';

// Whether a host, of a listen address or of a URL, is this machine itself. A name that only starts like a loopback
// address is another host.
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host);

export type NodeRequest = Pick<IncomingMessage, 'headers'> & {
  socket: Pick<IncomingMessage['socket'], 'remoteAddress' | 'localPort'>;
};

// Headers that proxies add, under different names.
const forwarding =
  /^(forwarded|via|x-forwarded.*|x-real-ip|x-client-ip|x-cluster-client-ip|x-original-.*|x-envoy-.*|true-client-ip|cf-.*|cdn-loop|fly-.*)$/;

// Whether a request was probably made on this machine: from a loopback address, for a loopback name with the right
// port, and without headers of a proxy. Use it to refuse, never to trust: a proxy on this machine that rewrites Host
// and adds nothing looks the same.
export function isFromThisMachine(request: NodeRequest | undefined): boolean {
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
