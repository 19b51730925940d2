// What a stranger's server can make us wait for, hold or open.

export const timeoutMs = 10_000; // the whole exchange, from the first name lookup to the last byte
export const connectMs = 5_000; // for one address; a handshake across the world takes less than one second
export const fallbackConnectMs = 2_000; // for an address that has another one behind it
export const addressesTried = 3; // a host with more has a problem that a fourth will not solve
export const lookupMs = 2_000; // for one query to one name server; twice at most
export const lookupTries = 2;
export const responseBytes = 64 * 1024; // nobody reads more of the answer to a webhook
export const headerBytes = 16 * 1024; // Node's own default for a server
export const urlChars = 8_000; // what servers commonly take; a webhook adds the query of its event to its destination
export const keepAliveMs = 4_000; // below the 5 s after which a Node server closes, so that the two do not race
export const keepAliveMostMs = 30_000; // a server may ask for more; an idle socket is not worth it
export const requestsInFlight = 10_000; // about 100 MB at 10 KB each; beyond it a queue belongs on disk
// Customers share destinations, such as an automation service: one who waited for a connection would use up their time
// behind the slow requests of others. Callers bound what they have in flight.
export const connectionsPerOrigin = 10_000;
export const interimAnswers = 20; // before the answer: two or three are usual, and each costs time to parse
