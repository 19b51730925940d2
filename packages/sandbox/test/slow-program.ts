// A program that never finishes loading.
await new Promise(resolve => setTimeout(resolve, 1_000_000));

export const run = () => ({});
