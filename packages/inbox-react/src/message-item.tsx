import { type ReactNode, useId, useState } from 'react';
import { Menu } from './menu.tsx';
import { isSnoozed, type Mark, type Message } from './message.ts';
import { secondsOf, showDistance, showMoment, snoozeTimes } from './moments.ts';

export type RenderBody = (message: Message) => ReactNode;

const showBody: RenderBody = ({ message: { body } }) =>
  typeof body === 'string' ? body : body === undefined ? null : <code>{JSON.stringify(body, null, 2)}</code>;

/** A single message with its actions, for custom lists. */
export function MessageItem({
  message,
  onMark,
  renderBody = showBody,
  startsOpen = false,
}: {
  message: Message;
  onMark: (mark: Mark) => void;
  renderBody?: RenderBody | undefined;
  startsOpen?: boolean;
}) {
  const [isOpen, setIsOpen] = useState(startsOpen);
  const id = useId();
  const now = new Date();
  const { title, cta_uri } = message.message;
  const open = () => {
    setIsOpen(!isOpen);
    if (!isOpen && !message.read) onMark({ kind: 'read' });
  };

  return (
    <li className="stak-inbox-message" data-unread={!message.read} data-open={isOpen}>
      <div className="stak-inbox-head">
        <button
          type="button"
          className="stak-inbox-title"
          aria-expanded={isOpen}
          aria-controls={id}
          onClick={open}
        >
          {!message.read && <span className="stak-inbox-hidden">Unread: </span>}
          {title}
        </button>
        <time dateTime={new Date(message.received * 1000).toISOString()} title={showMoment(message.received)}>
          {showDistance(message.received, secondsOf(now))}
        </time>
      </div>
      <div className="stak-inbox-body" id={id}>
        {renderBody(message)}
      </div>
      <div className="stak-inbox-foot">
        {message.taxonomy && <span className="stak-inbox-category">{message.taxonomy.category}</span>}
        {isSnoozed(message, secondsOf(now)) && (
          <span className="stak-inbox-category">until {showMoment(message.snoozed_until!)}</span>
        )}
        {cta_uri !== null && (
          <a href={cta_uri} target="_blank" rel="noopener noreferrer">
            Open<span className="stak-inbox-hidden">: {title}</span>
          </a>
        )}
        <MessageActions message={message} onMark={onMark} now={now} />
      </div>
    </li>
  );
}

function MessageActions({
  message,
  onMark,
  now,
}: {
  message: Message;
  onMark: (mark: Mark) => void;
  now: Date;
}) {
  const { title } = message.message;
  const action = (text: string, mark: Mark) => (
    <button
      type="button"
      className="stak-inbox-button"
      aria-label={`${text}: ${title}`}
      onClick={() => onMark(mark)}
    >
      {text}
    </button>
  );
  return (
    <div className="stak-inbox-actions">
      {message.read ? action('Mark unread', { kind: 'unread' }) : action('Mark read', { kind: 'read' })}
      {isSnoozed(message, secondsOf(now))
        ? action('Bring back', { kind: 'unsnooze' })
        : !message.archived && (
            <Menu
              text="Snooze"
              label={`Snooze: ${title}`}
              choices={snoozeTimes(now).map(({ label, until }) => ({
                label,
                choose: () => onMark({ kind: 'snooze', until }),
              }))}
            />
          )}
      {message.archived
        ? action('Move to inbox', { kind: 'unarchive' })
        : action('Archive', { kind: 'archive' })}
    </div>
  );
}
