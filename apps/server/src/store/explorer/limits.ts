// The limits of the explorer, each with its reason.

export const pageItems = 50; // what a person looks through before narrowing the search
export const readAhead = 200; // items of one request, when most of them may be of another entity
export const readBudget = 1000; // items read for one page before it is returned short: a scan is billed by the item
export const valueChars = 10_000; // of one attribute; the service's own API returns all of it
export const changeValueChars = 1000; // a stream of changes is watched, not read
export const changeChars = 60_000; // an event far below what one consumer may have buffered
export const binaryBytes = 256; // enough to recognise the format
export const changesKept = 200; // for clients that reconnect after a moment; 12 MB at most
export const lingerMs = 60_000; // a page that is loaded again continues where it was
export const lookMs = 15_000; // viewers are woken by changes; this only lets them notice that the tail has failed
