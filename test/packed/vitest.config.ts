import { defineConfig } from 'vitest/config';

// What `run.ts` has installed is tested one thing after the other: everything here starts programs.
export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['*.test.ts'],
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
