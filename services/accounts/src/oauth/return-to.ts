import { refuse } from './errors.ts';

export type ReturnSettings = {
  publicUrl: string; // where browsers reach us
  allowedOrigins?: readonly string[]; // where else the console may be, like https://console.example
};

// Where a browser may be sent when it has signed in: our own address and the origins the operator named. The text
// is read as a browser would read it, so `//evil.example`, `/\evil.example` and tabs in between are what they mean;
// what is answered is the address as read, never the text.
export function resolveReturnTo(
  returnTo: string | undefined,
  { publicUrl, allowedOrigins = [] }: ReturnSettings,
): string {
  const refused = () =>
    refuse(
      'accounts.return_to_refused',
      'return_to has to be a path of this server or of a configured origin.',
    );
  let url: URL;
  try {
    url = new URL(returnTo ?? '/', publicUrl);
  } catch {
    throw refused();
  }
  // The origin of `blob:https://…` is the one inside it.
  const isWeb = url.protocol === 'https:' || url.protocol === 'http:';
  const isKnown = [new URL(publicUrl).origin, ...allowedOrigins].includes(url.origin);
  if (!isWeb || !isKnown || url.username !== '' || url.password !== '') throw refused();
  return url.href;
}
