import { register } from 'tsx/esm/api';

register();
await import('../src/backup/backup-thread.ts');
