export { Bell } from './bell.tsx';
export { type Messages, useConnection, useCounts, useMessages } from './hooks.ts';
export { Inbox } from './inbox.tsx';
export type { ConnectionState, Settings } from './inbox-connection.ts';
export type { Counts, Filter, Mark, Message, Span, View } from './message.ts';
export { MessageItem } from './message-item.tsx';
export { InboxProvider } from './provider.tsx';
