// Everything that waits or grows here, and why it stops where it stops.

export const pageMessages = 30; // a screen and a little more
export const reloadMessages = 100; // what the server gives at once; more than that is read again when scrolled to
export const restMs = 5_000; // after an error that the client does not try again by itself
export const badgeMost = 99; // a longer number does not fit the badge
export const tickMs = 30_000; // half of what the words for a time tell apart
