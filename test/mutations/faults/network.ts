import type { Fault } from '../fault.ts';

// What leaves the server, and what strangers send to it.

export const networkFaults: readonly Fault[] = [
  {
    name: 'outbound-dns-mixed',
    file: 'packages/outbound/src/connector.ts',
    before: 'const permitted = addresses.filter(address => refusals.get(address) === undefined);',
    after: 'const permitted = [...refusals.values()].includes(undefined) ? addresses : [];',
    why: 'A name with one public and one private address reaches the private one',
    caughtBy: { test: 'packages/outbound/test/private-addresses.test.ts' },
  },
  {
    name: 'outbound-port-any',
    file: 'packages/outbound/src/destination.ts',
    before: 'if (!permitsPort(port)) return',
    after: 'if (port < 0) return',
    why: 'Webhooks reach mail servers and databases',
    caughtBy: {
      test: 'packages/outbound/test/ssrf.test.ts',
      name: '"http://93\\.184\\.215\\.14:22/", another protocol',
    },
  },
  {
    name: 'outbound-credentials-in-url',
    file: 'packages/outbound/src/destination.ts',
    before: "if (url.username !== '' || url.password !== '')",
    after: "if (url.username === ':' )",
    why: 'A URL with credentials is called',
    caughtBy: {
      test: 'packages/outbound/test/ssrf.test.ts',
      name: '"http://user:pass@93\\.184\\.215\\.14/", which is not a valid request URL',
    },
  },
  {
    name: 'outbound-tunnel',
    file: 'packages/outbound/src/destination.ts',
    before: '|| refusedMethods.has(method))',
    after: ')',
    why: 'A tunnel is opened through the server',
    caughtBy: { test: 'packages/outbound/test/outbound.test.ts', name: 'refuses the method "CONNECT"' },
  },
  {
    name: 'outbound-framing-header',
    file: 'packages/outbound/src/destination.ts',
    before: '  const bad = headers.find(([name]) => !maySendHeader(name));',
    after: "  const bad = headers.find(([name]) => name === '' && !maySendHeader(name));",
    why: 'A user smuggles a second request by a header of the framing',
    caughtBy: { test: 'packages/outbound/test/outbound.test.ts', name: 'refuses the header "Host"' },
  },
  {
    name: 'http-streams-unlimited',
    file: 'packages/http/src/events/stream-count.ts',
    before: 'if ((counts.get(caller) ?? 0) >= most)',
    after: 'if ((counts.get(caller) ?? 0) > most * 1e6)',
    why: 'One caller opens event streams without end',
    caughtBy: { test: 'packages/http/test/sse.test.ts', name: 'is limited in number per caller' },
  },
  {
    name: 'http-streams-counted-forever',
    file: 'packages/http/src/events/stream-count.ts',
    before: "signal.addEventListener('abort', () => change(caller, -1), { once: true });",
    after: "signal.addEventListener('abort', () => change(caller, 0), { once: true });",
    why: 'A caller that has closed its streams is refused new ones',
    caughtBy: { test: 'packages/http/test/sse.test.ts', name: 'is limited in number per caller' },
  },
  {
    name: 'http-body-share-of-one',
    file: 'packages/http/src/input/in-flight.ts',
    before: 'if (holder.bytes + bytes > mostOfOne)',
    after: 'if (holder.bytes + bytes > mostOfOne * 1e6)',
    why: 'One address takes all memory for bodies',
    caughtBy: {
      test: 'packages/http/test/in-flight.test.ts',
      name: 'is limited for one address, and released',
    },
  },
  {
    name: 'http-body-never-given-back',
    file: 'packages/http/src/input/in-flight.ts',
    before: '          if (held) give(holder, held);\n          holder.requests -= 1;',
    after: '          holder.requests -= 1;',
    why: 'Memory of bodies counts as taken after their requests have ended',
    caughtBy: {
      test: 'packages/http/test/in-flight.test.ts',
      name: 'is limited for one address, and released',
    },
  },
  {
    name: 'http-revocation-of-last-slot',
    file: 'packages/http/src/stores/revocations-table.ts',
    before: '[now - 1, now, now + 1]',
    after: '[now]',
    why: 'A revocation just before the end of a slot is heard by nobody',
    caughtBy: { test: 'packages/http/test/table-stores.test.ts', name: 'just before others begin' },
  },
  {
    name: 'http-etag-of-others',
    file: 'packages/http/src/input/etag.ts',
    before: '  if (version === undefined) throw lost();\n',
    after: '',
    why: 'An If-Match that no server has given overwrites any version',
    caughtBy: { test: 'packages/http/test/lists-and-versions.test.ts', name: 'is not W/"v3"' },
  },
];
