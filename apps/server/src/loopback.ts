// Whether a host, as one listens on it or as a URL has it, is this machine itself. A name that only begins like an
// address of this machine is somebody else's.
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host);
