// The limits of the client, each with its reason.

export const retries = 3; // with the delays below, a restart of the server is hardly noticed
export const retryFirstMs = 250;
export const retryMostMs = 8_000;
export const retryAfterMostMs = 60_000; // a longer Retry-After is returned to the caller as the error instead
export const timeoutMs = 30_000; // the server also ends a request by then
export const reconnectMs = 2_000; // until the server sends its own value
export const silenceMs = 60_000; // the server sends something every 15 seconds; a silent stream is dead
export const eventChars = 4 * 1024 * 1024; // the server buffers 256 KB at most: a larger event is not its own
