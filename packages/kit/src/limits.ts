// The limits of the kit, each with its reason.

export const timerMs = 2 ** 31 - 1; // setTimeout fires at once for anything longer; the clock chains instead

export const idTimeDigits = 9; // base36 milliseconds: enough until the year 5188, so ids keep one width
export const idCountDigits = 2; // 1,296 ids a millisecond before one is borrowed from the next
export const idRandomDigits = 13; // 67 bits: two processes in the same millisecond do not collide

export const logDepth = 16; // deeper values are cut, so that nothing is printed that the redactor has not checked
export const logNames = 1000; // known to be secret or not; the keys of a map may be anything
export const logEntries = 1000; // a log line is no place for a table

export const backoffFirstMs = 200; // a short failure costs little
export const backoffMostMs = 30_000; // a dependency that recovers is noticed within half a minute
export const healthyMs = 60_000; // a run this long ends the streak of failures before it
export const stopMs = 10_000; // container runtimes kill 10 s (Docker) to 30 s (Kubernetes) after the signal

/** The longest host of a URL or a Host header: DNS allows 253 characters, and there may be a port. */
export const hostChars = 300;
export const wokenTogether = 20; // subscribers of a hub: each reads a few items, some ten milliseconds in all
export const sealKeyIdChars = 32; // a date or a name; it is part of every sealed value
export const sliceMs = 4; // of long work in one iteration of the event loop: a request that waits for it takes about as long itself
export const stallMs = 200; // a longer iteration of the event loop is logged: all requests waited for it
export const stallLogMs = 10_000; // between two lines about that; the worst of those in between is in the next one
export const tickMs = 100; // how often that is checked
export const delayResolutionMs = 20; // of the measured delay; finer ones wake an idle process more often
export const idleUtilization = 0.05; // of a tick: below this the delay is not sampled, and the thread counts as idle
export const busyUtilization = 0.2; // of a look: above this there is garbage worth collecting later
export const idleLookMs = 5000; // how often an idle thread is looked for
export const idleLooks = 3; // idle ones in a row before garbage is collected: a pause between two requests is no idle time
export const delayWindowMs = 10_000;

export const shardCountMs = 60_000; // until a process notices shards that another has added
