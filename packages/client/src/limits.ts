// Everything the client waits for or tries again, and why it stops where it stops.

export const retries = 3; // with the delays below, a restart of the server is hardly noticed
export const retryFirstMs = 250;
export const retryMostMs = 8_000;
export const retryAfterMostMs = 60_000; // a longer Retry-After is returned to the caller as the error instead
export const timeoutMs = 30_000; // the server itself gives up on a request by then
export const reconnectMs = 2_000; // until the server says what it wants
export const silenceMs = 60_000; // the server says something every 15 seconds; a stream that is silent is dead
export const eventChars = 4 * 1024 * 1024; // the server buffers 256 KB at most: anything larger is not its own
