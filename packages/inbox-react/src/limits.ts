// The limits of this package, each with its reason.

export const pageMessages = 30; // a screen and a little more
export const reloadMessages = 100; // the server's largest page; more are read again when scrolled to
export const restMs = 5_000; // after an error that the client does not retry by itself
export const badgeMost = 99; // a longer number does not fit the badge
export const tickMs = 30_000; // half of the smallest difference that relative times show
