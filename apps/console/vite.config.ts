import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

// Served by apps/server below /console/, where nothing of the API lives. `npx vite apps/console` serves it alone
// for development, and proxies the API's paths to a server at its default address.
export default defineConfig({
  base: '/console/',
  plugins: [react()],
  build: { outDir: 'dist', emptyOutDir: true },
  server: {
    proxy: Object.fromEntries(
      ['/v1', '/in', '/docs', '/openapi.json'].map(path => [path, 'http://127.0.0.1:8787']),
    ),
  },
});
