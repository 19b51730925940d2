// Where somebody was heading when they went to a provider or to their mailbox to sign in. What stands behind a `#` may
// open something, such as an invitation: it goes to no server, and waits here. Links in mails open another tab, so it is
// not kept for this one alone.
const key = 'stak-destination';
const keptMs = 24 * 3_600_000; // longer than people look for a mail

export function keepDestination(to: string): void {
  if (to.includes('#')) localStorage.setItem(key, JSON.stringify({ to, untilMs: Date.now() + keptMs }));
  else localStorage.removeItem(key);
}

/** Gives it away once; with a path, only if it leads there. */
export function takeDestination(path?: string): string | undefined {
  const kept = localStorage.getItem(key);
  if (kept === null) return undefined;
  const { to, untilMs } = JSON.parse(kept) as { to: string; untilMs: number };
  const isMeant = path === undefined || to.split('#', 1)[0] === path;
  if (isMeant || untilMs < Date.now()) localStorage.removeItem(key);
  return isMeant && untilMs >= Date.now() ? to : undefined;
}
