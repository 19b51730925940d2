import { parseUrl } from '@stak/kit';
import { accountsErrors } from '../../errors.ts';
import type { RequestPart } from '../../origin.ts';
import type { SignedIn } from './session-item.ts';

type ResponsePart = { header(name: string, value: string, options?: { append?: boolean }): void };

export type BrowserRules = {
  publicUrl: string;
  isHttps: boolean;
  // In addition to our own: other addresses that serve a console.
  allowedOrigins?: readonly string[];
};

export type Browser = {
  // Refuses requests from other sites' pages. Browsers send the page's origin with every POST; programs send none.
  checkOrigin(c: RequestPart): void;
  refreshCookie(c: RequestPart): string | undefined;
  // Responds to a sign-in with the refresh token: as a cookie that scripts cannot read, or in the body for programs.
  answer(c: ResponsePart, signedIn: SignedIn, wantsCookie: boolean): TokenAnswer;
  clearCookie(c: ResponsePart): void;
};

type TokenAnswer = {
  access_token: string;
  token_type: 'Bearer';
  expires_in: number;
  session_id: string;
  account_id: string;
  user_id: string;
  refresh_token?: string;
};

// Three defences, each sufficient alone: SameSite=Strict withholds the cookie from other sites' requests, a JSON body
// needs a preflight that other origins do not pass, and a foreign Origin is refused.
export function createBrowser({ publicUrl, isHttps, allowedOrigins = [] }: BrowserRules): Browser {
  const origins = new Set([new URL(publicUrl).origin, ...allowedOrigins]);
  // With this prefix, browsers accept the cookie only over https.
  const name = isHttps ? '__Secure-stak_refresh' : 'stak_refresh';
  const attributes = `Path=/v1/auth; HttpOnly; SameSite=Strict${isHttps ? '; Secure' : ''}`;
  const setCookie = (c: ResponsePart, value: string, maxAgeS: number) =>
    c.header('Set-Cookie', `${name}=${value}; Max-Age=${maxAgeS}; ${attributes}`, { append: true });

  return {
    checkOrigin(c) {
      const origin = c.req.header('origin');
      if (origin === undefined || origins.has(origin)) return;
      const host = c.req.header('host');
      // A server may have many names; the one in the request is accepted as its own.
      if (host !== undefined && parseUrl(origin)?.host === host.toLowerCase()) return;
      throw accountsErrors.create('accounts.origin_refused', 'Requests from other sites are not allowed.');
    },
    refreshCookie(c) {
      for (const pair of c.req.header('cookie')?.split(';') ?? []) {
        const [key, value] = pair.trim().split('=', 2);
        if (key === name) return value;
      }
      return undefined;
    },
    answer(c, signedIn, wantsCookie) {
      if (wantsCookie) setCookie(c, signedIn.refreshToken, signedIn.refreshExpiresIn);
      return {
        access_token: signedIn.accessToken,
        token_type: 'Bearer',
        expires_in: signedIn.expiresIn,
        session_id: signedIn.sessionId,
        account_id: signedIn.accountId,
        user_id: signedIn.userId,
        ...(!wantsCookie && { refresh_token: signedIn.refreshToken }),
      };
    },
    clearCookie: c => setCookie(c, '', 0),
  };
}
