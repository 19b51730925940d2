export { readServerConfig } from './config/config.ts';
export { mountConsole } from './http/console-files.ts';
export { signInLink } from './http/demo-sign-in.ts';
export { issueSignInToken } from './http/demo-sign-in-token.ts';
export { mountPortal } from './http/portal-files.ts';
export { type RunningServer, type ServerOptions, startServer } from './process/server.ts';
export { exportArchive } from './store/archive/export.ts';
export { importArchive } from './store/archive/import.ts';
export { createBackupHost } from './store/backup/backup-host.ts';
