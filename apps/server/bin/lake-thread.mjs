import { register } from 'tsx/esm/api';

register();
await import('../src/lake-thread.ts');
