export { readServerConfig } from './config.ts';
export { mountConsole } from './console-files.ts';
export { type RunningServer, type ServerOptions, startServer } from './server.ts';
