import { buildPages } from './build-pages.mjs';

// node build.mjs [FOLDER]
await buildPages(import.meta.dirname, 'console');
