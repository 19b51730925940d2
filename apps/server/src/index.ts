export { readServerConfig } from './config.ts';
export { type RunningServer, type ServerOptions, startServer } from './server.ts';
