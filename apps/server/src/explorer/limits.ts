// Everything the explorer reads, keeps or waits for, and why it stops where it stops.

export const pageItems = 50; // what a person looks through before they ask for something narrower
export const readAhead = 200; // items of one request when most of them may be of another entity
export const readBudget = 1000; // items read for one page before it is answered short: a scan is paid by the item
export const valueChars = 10_000; // of one attribute; the service's own API returns all of it
export const changeValueChars = 1000; // a stream of changes is watched, not read
export const changeChars = 60_000; // an event far below what one consumer may have buffered
export const binaryBytes = 256; // enough to recognise what it is
export const changesKept = 200; // for clients that reconnect after a moment; 12 MB at most
export const lingerMs = 60_000; // a page that is loaded again continues where it was
export const lookMs = 15_000; // viewers are woken by changes; this only lets them notice a tail that has failed
