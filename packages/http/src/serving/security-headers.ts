import * as limits from '../limits.ts';

// For all responses over https, including pages: from then on browsers use https only.
export const transportSecurity = ({ isHttps }: { isHttps: boolean }): Record<string, string> =>
  isHttps ? { 'Strict-Transport-Security': `max-age=${limits.hstsMaxAgeS}` } : {};

// For responses that are data, as name, value, name, value. If a browser is made to show one as a page, it can load and
// run nothing.
export function securityHeaders({ isHttps }: { isHttps: boolean }): readonly string[] {
  return Object.entries({
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Cache-Control': 'no-store',
    ...transportSecurity({ isHttps }),
  }).flat();
}
