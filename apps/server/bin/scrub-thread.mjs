import { register } from 'tsx/esm/api';

register();
await import('../src/scrub/scrub-thread.ts');
