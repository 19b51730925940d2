/**
 * The declarations of a route that only reads: `route({ ...readsOnly, path, … })`. It reaches and stores nothing, and is
 * not audited.
 */
export const readsOnly = { method: 'get', reaches: 'nothing', audit: false, stores: 'nothing' } as const;
