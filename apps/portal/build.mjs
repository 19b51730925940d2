import { buildPages } from '@stak/console/build-pages';

// node build.mjs [FOLDER]
await buildPages(import.meta.dirname, 'portal');
