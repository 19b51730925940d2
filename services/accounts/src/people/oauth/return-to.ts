import { refuse } from './errors.ts';

export type ReturnSettings = {
  publicUrl: string; // where browsers reach us
  allowedOrigins?: readonly string[]; // other addresses that serve a console, like https://console.example
};

// A browser may return to our own address and to the origins that the operator allowed. The text is parsed as a browser
// parses it, so `//evil.example`, `/\evil.example` and embedded tabs are seen for what they are. Returns the parsed
// address, never the text.
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
  // `blob:https://…` has the origin of the URL inside it, so the protocol is checked too.
  const isWeb = url.protocol === 'https:' || url.protocol === 'http:';
  const isKnown = [new URL(publicUrl).origin, ...allowedOrigins].includes(url.origin);
  if (!isWeb || !isKnown || url.username !== '' || url.password !== '') throw refused();
  return url.href;
}
