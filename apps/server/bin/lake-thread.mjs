import { register } from 'tsx/esm/api';

register();
await import('../src/store/lake/lake-thread.ts');
