import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

// Small parts of the components that figures and cards need. Everything else of the library is for forms.
const cards =
  /components[\\/](Card|Paper|SimpleGrid|Progress|Code|CopyButton|SegmentedControl|FloatingIndicator|ThemeIcon)[\\/]/;
const own =
  /console[\\/]src[\\/](queries|text|components[\\/](feedback|display[\\/](stat|status-badge|section|day-span|late-charts)|fields[\\/]copy))/;
const pageOf = (id: string): string | null => /console[\\/]src[\\/]pages[\\/](\w+)/.exec(id)?.[1] ?? null;

// Served by apps/server below /console/, where nothing of the API lives. `npx vite apps/console` serves it alone
// for development, and proxies the API's paths to a server at its default address.
export default defineConfig({
  base: '/console/',
  plugins: [react()],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    chunkSizeWarningLimit: 1_000, // kilobytes, not compressed; budgets.test.ts limits what a page loads
    rolldownOptions: {
      output: {
        // Otherwise each module that two pages share is a file of its own, and a page needs more than a hundred of them.
        codeSplitting: {
          groups: [
            { name: 'start', tags: ['$initial'], priority: 5 },
            {
              name: 'cards',
              test: id => /@tabler/.test(id) || cards.test(id) || own.test(id),
              minShareCount: 2,
              priority: 4,
            },
            { name: 'charts', test: /node_modules[\\/](recharts|@mantine[\\/]charts)/, priority: 3 },
            {
              name: 'forms',
              test: /@mantine[\\/](core|hooks)|react-query|query-core|console[\\/]src[\\/]components/,
              minShareCount: 3,
              priority: 2,
            },
            // What the pages of a service share, apart from what other services take from it.
            {
              name: pageOf,
              minShareCount: 2,
              entriesAware: true,
              entriesAwareMergeThreshold: 2_000,
              priority: 1,
            },
          ],
        },
      },
    },
  },
  server: {
    proxy: Object.fromEntries(
      ['/v1', '/in', '/docs', '/openapi.json'].map(path => [path, 'http://127.0.0.1:8787']),
    ),
  },
});
