// Providers on this machine, as in tests, may use http. All others need https.
export const isLoopback = (url: string): boolean =>
  ['127.0.0.1', '[::1]', 'localhost'].includes(new URL(url).hostname);
