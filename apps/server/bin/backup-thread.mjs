import { register } from 'tsx/esm/api';

register();
await import('../src/store/backup/backup-thread.ts');
