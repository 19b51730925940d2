import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

// Served by apps/server at /portal/{tenant_id}. Its files are below /portal/assets/, a name no tenant can have.
export default defineConfig({
  base: '/portal/',
  plugins: [react()],
  build: { outDir: 'dist', emptyOutDir: true },
});
