// The limits of what a caller can make this layer hold, read or wait for, each with its reason.

export const bodyBytes = 256 * 1024; // below DynamoDB's 400 KB item, with room for what we add to it
export const bodyMs = 15_000; // a slower body is an attack, not a slow network
export const bodyBufferBytes = 16 * 1024; // the initial buffer of a body that arrives in pieces; it doubles
export const largeBodyBytes = 8 * 1024; // takes a millisecond and more to parse and to check; most requests are smaller
export const bodyBytesAtOnce = 64 * 1024 * 1024; // of all bodies in flight: 250 of the usual limit
export const bodyShareOfOne = 0.5; // of that for one address, so that others always find room
export const requestsPerAddressAtOnce = 2_000; // a proxy that is not configured carries the requests of all callers
export const idleAddresses = 10_000; // kept although they have no requests in flight
export const jsonDepth = 32; // no document of ours nests this deep; recursion over it stays far from the stack's end
export const jsonNames = 20_000; // of all objects in a body: a thousand messages of a chat with their tools have less
export const describedValues = 1_000; // of a body: all its errors are reported, as a form needs them; of a larger one, the first
export const fieldErrors = 20; // more cannot be corrected at once, and a response must not be larger than its request
export const fieldNameChars = 100; // an unknown field's name comes from the caller

export const requestIdChars = 100; // enough for a UUID, a ULID or a trace id with a prefix
export const tokenChars = 8192; // a JWT with a few claims has 1 KB; Node allows 16 KB for all headers
export const eventIdChars = 256; // Last-Event-ID is one of our ids

export const idempotencyKeyChars = 255; // what Stripe and the IETF draft's examples allow
export const idempotencyTtlMs = 24 * 60 * 60 * 1000; // a client that retries after a day has to look first
export const idempotencyLeaseMs = 60_000; // longer than any handler may run; without `owners`, a crash blocks a key this long
export const idempotencyRetryS = 1; // most requests in flight are over by then
export const idempotencyGraceMs = 60_000; // how late a stored record may be finished, because clocks differ
export const idempotencyBodyBytes = 280 * 1024; // a created thing of bodyBytes fits; sealed, it is one item of 400 KB
export const lateWrites = 200; // of idempotency records, at a time: each may hold a sealed body
export const idempotencyEntries = 10_000; // of the in-memory store

export const pageItems = 25;
export const pageItemsMost = 100; // a page of 4 KB items stays under DynamoDB's megabyte
export const cursorChars = 4096; // a sealed key of 2 KB, in base64

export const rateKeys = 100_000; // about 10 MB of in-memory counters; the least recently used one is dropped
export const rateKeyChars = 100; // of what such a counter is for; a longer one is hashed
export const sharedRateKeys = 10_000; // kept to save a retry; a forgotten one costs a second write
export const sharedRateAttempts = 20; // each conflict is a request that was counted elsewhere: a low limit is reached first
export const windowMs = 60_000;
export const requestsPerPrincipal = 600; // a window: ten a second, kept up
export const requestsPerAddress = 300; // per window, without a principal or with a refused token
// Per window, for requests of providers without a token. They have few addresses and thousands of customers: 5,000 per
// second is more than a core can handle.
export const webhooksPerAddress = 300_000;

export const sseBufferBytes = 256 * 1024; // for one consumer; one that is further behind reads the list instead
export const revocationPollMs = 500; // one read for all open streams of a process: a revoked one ends within a second
export const revocationSlotMs = 5_000; // longer than clocks differ
export const revocationRecheckMs = 3_000; // a notice is written before its revocation: how long that may take
export const revocationRechecks = 200; // at a time
export const sseHeartbeatMs = 15_000; // proxies close connections that are silent for 30 to 60 seconds
export const sseLifetimeMs = 15 * 60_000; // a revoked caller is disconnected by then; the client resumes where it was
export const sseRetryMs = 2_000; // how long EventSource waits before it reconnects
export const streamsPerCaller = 20; // a browser with a few tabs; HTTP/1.1 allows it six anyway
export const sseGraceMs = 5_000; // time for a disconnected consumer to read the reason

export const storedBytesLeast = 1000; // what a request adds at least, with keys, indexes and a line in some log

export const headerBytes = 16 * 1024; // Node's own default; the address line is part of it
export const headersMs = 10_000;
export const requestMs = 30_000; // headers and body; longer than bodyMs, so that the problem response comes first
export const checkMs = 1_000; // how often Node checks for connections past these limits
export const requestsWaiting = 100; // on one connection, behind the one that is served; browsers send one at a time
export const unreadMs = 30_000; // how long a client may read nothing: a phone in a tunnel
export const readBytesPerS = 16 * 1024; // besides: slower than any network that opens a web page
export const unreadBytesAtOnce = 128 * 1024 * 1024; // of all responses: 128 large lists that nobody reads
export const unreadShareOfOne = 0.5; // of that for one address
export const keepAliveMs = 65_000; // longer than a load balancer's 60 s, so that it never uses a closing socket
export const connections = 10_000;
export const crowdedShare = 0.9; // of these: then each new connection ends an idle one of the address that has the most
export const drainMs = 10_000; // container runtimes kill 10 s (Docker) to 30 s (Kubernetes) after the signal
export const readyMs = 2_000; // for one readiness check; a probe waits 1 to 5 seconds
export const unavailableRetryS = 1; // after a 503 that says nothing else

export const corsMaxAgeS = 600; // Chromium remembers a preflight no longer than two hours, Firefox a day
export const hstsMaxAgeS = 365 * 24 * 60 * 60;
export const rateShareMs = 50; // how late the other processes of a machine receive the counts
export const rateKeysShared = 5_000; // callers in that time, about 100 bytes each; more count in this process only
