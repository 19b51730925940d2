import { expect } from 'vitest';

type Site = { origin: string; request(path: string, init: RequestInit): Response | Promise<Response> };

// A browser with cookies and one person in front of it. Our own site is called without a socket.
export function createBrowser(site: Site, person?: string) {
  const jars = new Map<string, Map<string, string>>();

  const jarOf = (origin: string): Map<string, string> => {
    const jar = jars.get(origin) ?? new Map<string, string>();
    jars.set(origin, jar);
    return jar;
  };

  const open = async (address: string, init: RequestInit = {}): Promise<Response> => {
    const url = new URL(address, site.origin);
    const jar = jarOf(url.origin);
    const headers = new Headers(init.headers);
    headers.set('Cookie', [...jar].map(pair => pair.join('=')).join('; '));
    if (person !== undefined) headers.set('X-Person', person);
    const request: RequestInit = { ...init, headers, redirect: 'manual' };
    const response = await (url.origin === site.origin
      ? site.request(url.pathname + url.search, request)
      : fetch(url, request));
    for (const cookie of response.headers.getSetCookie()) {
      const [name = '', value = ''] = cookie.split(';')[0]!.split('=');
      if (/max-age=0/i.test(cookie) || value === '') jar.delete(name);
      else jar.set(name, value);
    }
    return response;
  };

  // Follows redirects for as long as they lead elsewhere than to the callback of ours, and says where that is.
  const goToCallback = async (address: string): Promise<string> => {
    let next = address;
    for (let hops = 0; hops < 10; hops++) {
      if (new URL(next, site.origin).pathname.endsWith('/callback')) return next;
      const response = await open(next);
      expect([302, 303], await response.clone().text()).toContain(response.status);
      next = new URL(response.headers.get('location') ?? '', new URL(next, site.origin)).href;
    }
    throw new Error('too many redirects');
  };

  return { open, goToCallback, cookies: jarOf(site.origin) };
}
