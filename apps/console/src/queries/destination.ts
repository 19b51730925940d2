// Where somebody was heading when they left to sign in at a provider or to open their mailbox. The fragment of the
// address may hold a token, such as an invitation's, so it is sent to no server and kept here. Links in e-mails open
// another tab, so it is not limited to this one.
const key = 'stak-destination';
const keptMs = 24 * 3_600_000; // enough time to find an e-mail

export function keepDestination(to: string): void {
  if (to.includes('#')) localStorage.setItem(key, JSON.stringify({ to, untilMs: Date.now() + keptMs }));
  else localStorage.removeItem(key);
}

/** Returns it once; with a path, only if it leads there. */
export function takeDestination(path?: string): string | undefined {
  const kept = localStorage.getItem(key);
  if (kept === null) return undefined;
  const { to, untilMs } = JSON.parse(kept) as { to: string; untilMs: number };
  const isMeant = path === undefined || to.split('#', 1)[0] === path;
  if (isMeant || untilMs < Date.now()) localStorage.removeItem(key);
  return isMeant && untilMs >= Date.now() ? to : undefined;
}

/**
 * The sign-in page, from which somebody returns to an address of the console. The fragment of that address stays a
 * fragment, so that no server sees it.
 */
export function signInFor(href: string, search: { email?: string; isNew?: boolean } = {}) {
  const [to = '/', ...rest] = href.split('#');
  return { to: '/sign-in' as const, search: { ...search, to }, hash: rest.join('#') };
}

/** Where the sign-in page leads: to its parameter `to`, with its own fragment unless that is the token of the demo. */
export const destinationOf = (to = '/', hash = ''): string =>
  hash === '' || hash.startsWith('demo=') ? to : `${to.split('#', 1)[0]}#${hash}`;
