import { oauthStateS } from '../limits.ts';

const secretShape = /^[A-Za-z0-9_-]{43}$/;

// The browser's half of an attempt. Lax, because the provider sends the browser back by a cross-site link. Under
// https its name has the prefix that keeps other hosts of the same domain from planting one.
export function attemptCookie(publicUrl: string) {
  const isHttps = publicUrl.startsWith('https:');
  const name = isHttps ? '__Host-stak-sign-in' : 'stak-sign-in';
  const write = (value: string, seconds: number): string =>
    `${name}=${value}; Max-Age=${seconds}; Path=/; HttpOnly; SameSite=Lax${isHttps ? '; Secure' : ''}`;
  return {
    set: (secret: string): string => write(secret, oauthStateS),
    clear: (): string => write('', 0),
    read(header: string | undefined): string | undefined {
      const found = header?.split(';').map(part => part.trim().split('='));
      const value = found?.find(([key]) => key === name)?.[1];
      return value !== undefined && secretShape.test(value) ? value : undefined;
    },
  };
}
