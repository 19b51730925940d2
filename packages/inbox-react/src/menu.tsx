import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';

export type Choice = { label: string; choose: () => void };

// A button with a menu: arrow keys move, Escape closes it, and the focus returns to the button.
export function Menu({
  label,
  text,
  choices,
  isDisabled = false,
}: {
  label?: string; // for screen readers, if the text is too short
  text: string;
  choices: readonly Choice[];
  isDisabled?: boolean;
}) {
  const [isOpen, setIsOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();
  useDismissal(isOpen, root, () => setIsOpen(false));
  useEffect(() => {
    if (isOpen) root.current?.querySelector<HTMLElement>('[role=menuitem]')?.focus();
  }, [isOpen]);

  const close = () => {
    setIsOpen(false);
    button.current?.focus();
  };
  const move = (event: KeyboardEvent) => {
    const items = [...(root.current?.querySelectorAll<HTMLElement>('[role=menuitem]') ?? [])];
    const at = items.indexOf(document.activeElement as HTMLElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
    if (event.key === 'Escape') {
      event.stopPropagation(); // a surrounding popover stays open
      close();
    } else if (event.key === 'Tab') setIsOpen(false);
    else if (to !== undefined) {
      event.preventDefault();
      items.at(to % items.length)?.focus();
    }
  };

  return (
    <div className="stak-inbox-menu" ref={root}>
      <button
        ref={button}
        type="button"
        className="stak-inbox-button"
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        disabled={isDisabled}
        onClick={() => setIsOpen(!isOpen)}
      >
        {text} <span aria-hidden>▾</span>
      </button>
      {isOpen && (
        <div
          className="stak-inbox-choices"
          role="menu"
          id={id}
          aria-label={label ?? text}
          onKeyDown={move}
          tabIndex={-1}
        >
          {choices.map(choice => (
            <button
              key={choice.label}
              type="button"
              role="menuitem"
              tabIndex={-1}
              onClick={() => {
                close();
                choice.choose();
              }}
            >
              {choice.label}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}

// Closes on a click outside and on Escape, which is handled as a key because the focus is inside.
export function useDismissal(
  isOpen: boolean,
  inside: { current: HTMLElement | null },
  dismiss: (isByKey: boolean) => void,
): void {
  useEffect(() => {
    if (!isOpen) return;
    const over = new AbortController();
    const leave = (event: PointerEvent) => {
      if (!inside.current?.contains(event.target as Node)) dismiss(false);
    };
    const leaveByKey = (event: globalThis.KeyboardEvent) => {
      if (event.key === 'Escape') dismiss(true);
    };
    document.addEventListener('pointerdown', leave, over);
    document.addEventListener('keydown', leaveByKey, over);
    return () => over.abort();
  });
}
