import { oauthStateS } from '../../limits.ts';

const secretShape = /^[A-Za-z0-9_-]{43}$/;

// Holds the secret of a sign-in attempt. SameSite=Lax, because the provider returns the browser by a cross-site link.
// Over https the `__Host-` prefix keeps other hosts of the same domain from setting it.
export function attemptCookie(publicUrl: string) {
  const isHttps = publicUrl.startsWith('https:');
  const name = isHttps ? '__Host-stak-sign-in' : 'stak-sign-in';
  const write = (value: string, seconds: number): string =>
    `${name}=${value}; Max-Age=${seconds}; Path=/; HttpOnly; SameSite=Lax${isHttps ? '; Secure' : ''}`;
  return {
    set: (secret: string): string => write(secret, oauthStateS),
    clear: (): string => write('', 0),
    read(header: string | undefined): string | undefined {
      const cookies = header?.split(';').map(part => part.trim().split('='));
      const value = cookies?.find(([key]) => key === name)?.[1];
      return value !== undefined && secretShape.test(value) ? value : undefined;
    },
  };
}
