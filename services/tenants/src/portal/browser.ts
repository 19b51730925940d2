import { parseUrl } from '@stak/kit';
import { tenantErrors } from '../errors.ts';

type RequestPart = { req: { header(name: string): string | undefined } };
type ResponsePart = { header(name: string, value: string, options?: { append?: boolean }): void };

// The cookie of a session. It is sent to the portal's routes of one tenant only, scripts cannot read it, and pages of
// other sites cannot make a browser send it. In addition, a foreign Origin is refused.
export function createCookies(publicUrl: string) {
  const isHttps = publicUrl.startsWith('https:');
  const name = isHttps ? '__Secure-stak_portal' : 'stak_portal';
  const own = new URL(publicUrl).origin;
  const set = (c: ResponsePart, tenantId: string, value: string, maxAgeS: number) =>
    c.header(
      'Set-Cookie',
      `${name}=${value}; Max-Age=${maxAgeS}; Path=/v1/portal/${tenantId}; HttpOnly; SameSite=Strict${isHttps ? '; Secure' : ''}`,
      { append: true },
    );
  return {
    set,
    clear: (c: ResponsePart, tenantId: string) => set(c, tenantId, '', 0),
    read(c: RequestPart): string | undefined {
      for (const pair of c.req.header('cookie')?.split(';') ?? []) {
        const [key, value] = pair.trim().split('=', 2);
        if (key === name) return value;
      }
      return undefined;
    },
    checkOrigin(c: RequestPart): void {
      const origin = c.req.header('origin');
      if (origin === undefined || origin === own) return;
      const host = c.req.header('host');
      // A server has many names; the one in the request is its own.
      if (host !== undefined && parseUrl(origin)?.host === host.toLowerCase()) return;
      throw tenantErrors.create('tenants.origin_refused', 'Requests from other sites are not allowed.');
    },
  };
}
