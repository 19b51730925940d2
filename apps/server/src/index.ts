export { exportArchive } from './archive/export.ts';
export { importArchive } from './archive/import.ts';
export { createBackupHost } from './backup/backup-host.ts';
export { readServerConfig } from './config.ts';
export { mountConsole } from './console-files.ts';
export { signInLink } from './demo/sign-in.ts';
export { issueSignInToken } from './demo/sign-in-token.ts';
export { mountPortal } from './portal-files.ts';
export { type RunningServer, type ServerOptions, startServer } from './server.ts';
