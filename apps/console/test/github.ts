import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Stands in for GitHub: everybody who signs in is `person`. */
export async function openGithub() {
  const stub = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url!, 'http://127.0.0.1');
    const { id, email } = opened.person;
    const answers: Record<string, unknown> = {
      '/login/oauth/access_token': { access_token: 'token', token_type: 'bearer' },
      '/user': { id, login: `octo-${id}` },
      '/user/emails': [{ email, primary: true, verified: true }],
    };
    if (pathname !== '/login/oauth/authorize')
      return response
        .writeHead(200, { 'Content-Type': 'application/json' })
        .end(JSON.stringify(answers[pathname]));
    const back = new URL(searchParams.get('redirect_uri')!);
    back.search = new URLSearchParams({ code: 'code', state: searchParams.get('state')! }).toString();
    return response.writeHead(302, { Location: back.href }).end();
  }).listen(0, '127.0.0.1');
  await once(stub, 'listening');
  const url = `http://127.0.0.1:${(stub.address() as AddressInfo).port}`;
  const opened = {
    person: { id: 1, email: 'nobody@example.com' },
    settings: { clientId: 'client', clientSecret: 'secret', url, apiUrl: url },
    close: () => void stub.close().closeAllConnections(),
  };
  return opened;
}
