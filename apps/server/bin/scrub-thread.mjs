import { register } from 'tsx/esm/api';

register();
await import('../src/store/scrub/scrub-thread.ts');
