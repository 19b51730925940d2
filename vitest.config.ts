import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: [
      '{packages,services,apps}/*/{src,test}/**/*.test.ts',
      'test/**/*.test.ts',
      'bench/**/*.test.ts',
    ],
    exclude: ['**/node_modules/**'],
    pool: 'forks',
    testTimeout: 30_000,
  },
});
