import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Api, httpErrors } from '@stak/http';
import { isFromThisMachine } from '../config/loopback.ts';
import { readDemo } from './demo-file.ts';
import { useSignInToken } from './demo-sign-in-token.ts';

/** At localhost instead of an address of this machine: browsers have no passkeys for addresses. */
export function signInLink(url: string, token: string): string {
  const link = new URL('/console/sign-in', url);
  if (link.hostname === '127.0.0.1' || link.hostname === '[::1]') link.hostname = 'localhost';
  return `${link.href}#demo=${token}`;
}

const mostBytes = 200; // of a body with a token

// The console's button "Open the demo workspace". The password never leaves the data folder: a page that was opened
// with the printed link exchanges the link's token for a session, once. docs/adr/0061-the-demo-is-opened-by-a-link.md
export function mountDemoSignIn({ app, mount }: Pick<Api, 'app' | 'mount'>, folder: string): void {
  // Whether there is a demo, so that the page can say how to open it.
  const unguarded = 'it answers callers on this machine only';
  mount({ method: 'get', path: '/console/demo.json', unguarded }, async c => {
    const demo = isFromThisMachine(c.env?.incoming) ? await readDemo(folder) : undefined;
    return demo?.isFilled
      ? c.json({ email: demo.email, newestMail: await newestMail(folder) })
      : c.json(null, 404);
  });

  const once = 'a token of this machine is exchanged once, by the route for signing in';
  mount({ method: 'post', path: '/console/demo/session', unguarded: once }, async c => {
    const token = await readToken(c.req.raw);
    const demo = isFromThisMachine(c.env?.incoming) ? await readDemo(folder) : undefined;
    if (!demo || token === undefined || !(await useSignInToken(folder, token)))
      throw httpErrors.create(
        'http.unauthenticated',
        'This link to the demo workspace was used already, or is of an earlier start. Restart the server for another, or sign in with the password that it printed.',
      );
    const headers = new Headers({ 'Content-Type': 'application/json' });
    for (const name of ['host', 'origin', 'user-agent']) {
      const value = c.req.header(name);
      if (value !== undefined) headers.set(name, value);
    }
    const body = JSON.stringify({ email: demo.email, password: demo.password, cookie: true });
    const login = new Request(new URL('/v1/auth/login', c.req.url), { method: 'POST', headers, body });
    // A new request with another body, so the incoming one is not passed on.
    const remoteAddress = c.env.incoming?.socket.remoteAddress;
    return app.fetch(login, {
      ...(c.env.outgoing && { outgoing: c.env.outgoing }),
      ...(remoteAddress !== undefined && { remoteAddress }),
    });
  });
}

// The name of the last mail, without its content, which could give access to accounts.
async function newestMail(folder: string): Promise<string | undefined> {
  const mailFolder = join(folder, 'mail');
  const names = await readdir(mailFolder).catch(() => []);
  const newest = names
    .filter(name => name.endsWith('.eml') && !name.startsWith('.'))
    .toSorted()
    .at(-1);
  return newest === undefined ? undefined : join(mailFolder, newest);
}

async function readToken(request: Request): Promise<string | undefined> {
  const length = Number(request.headers.get('content-length') ?? Number.NaN);
  if (!(length <= mostBytes)) return undefined;
  try {
    const { token } = (await request.json()) as { token?: unknown };
    return typeof token === 'string' ? token : undefined;
  } catch {
    return undefined;
  }
}
