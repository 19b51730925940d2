import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { javascript, javascriptLanguage } from '@codemirror/lang-javascript';
import { json } from '@codemirror/lang-json';
import { PostgreSQL, sql } from '@codemirror/lang-sql';
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { Compartment, EditorState, type Extension, Prec } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  keymap,
  lineNumbers,
  placeholder as placeholderText,
} from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { useEffect, useEffectEvent, useRef } from 'react';
import { completeColumns, completeEvent } from './completions.ts';

export type EditorProps = {
  label: string; // what a screen reader calls it
  language: 'json' | 'javascript' | 'sql';
  value: string;
  onChange: (value: string) => void;
  onRun?: (value: string) => void; // Ctrl or ⌘ and Enter
  tables?: Readonly<Record<string, readonly string[]>>; // that SQL completes, with their columns
  sample?: unknown; // a body whose fields a script completes
  placeholder?: string;
  minRows?: number;
  isInvalid?: boolean;
  describedBy?: string | undefined;
};

// Colours are CSS variables of the page, which has both a light and a dark set.
const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: 'var(--stak-code-keyword)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--stak-code-string)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--stak-code-number)' },
  {
    tag: [tags.propertyName, tags.typeName, tags.function(tags.variableName)],
    color: 'var(--stak-code-name)',
  },
  { tag: tags.comment, color: 'var(--mantine-color-dimmed)', fontStyle: 'italic' },
]);

const looks = EditorView.theme({
  '&': { fontSize: 'var(--mantine-font-size-sm)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': {
    fontFamily: 'var(--mantine-font-family-monospace)',
    lineHeight: '1.55',
    maxHeight: '28rem',
  },
  '.cm-gutters': {
    background: 'transparent',
    border: 'none',
    color: 'var(--mantine-color-dimmed)',
  },
  '.cm-content': { caretColor: 'var(--mantine-color-text)' },
  '.cm-cursor': { borderLeftColor: 'var(--mantine-color-text)' },
  '.cm-placeholder': { color: 'var(--mantine-color-placeholder)' },
  '.cm-tooltip': {
    background: 'var(--mantine-color-body)',
    border: '1px solid var(--mantine-color-default-border)',
    borderRadius: 'var(--mantine-radius-sm)',
  },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    background: 'var(--mantine-primary-color-filled)',
    color: 'white',
  },
});

function languageOf({ language, tables, sample }: EditorProps): Extension {
  if (language === 'json') return json();
  if (language === 'javascript')
    return [javascript(), javascriptLanguage.data.of({ autocomplete: completeEvent(sample) })];
  return [
    sql({ dialect: PostgreSQL, ...(tables && { schema: tables }) }),
    PostgreSQL.language.data.of({ autocomplete: completeColumns(tables ?? {}) }),
  ];
}

const attributesOf = ({ label, isInvalid, describedBy }: EditorProps): Extension =>
  EditorView.contentAttributes.of({
    'aria-label': label,
    'aria-multiline': 'true',
    autocapitalize: 'off',
    // Escape closes only the suggestions, not the dialog around the editor.
    'data-mantine-stop-propagation': 'true',
    ...(isInvalid && { 'aria-invalid': 'true' }),
    ...(describedBy !== undefined && { 'aria-describedby': describedBy }),
  });

// The only module that imports the editor, so it is loaded lazily. Tab leaves the field, as in any other.
export default function CodeEditor(props: EditorProps) {
  const { value, language, tables, sample, label, isInvalid, describedBy, minRows = 5 } = props;
  const box = useRef<HTMLDivElement>(null);
  const editor = useRef<EditorView | undefined>(undefined);
  const parts = useRef({ language: new Compartment(), attributes: new Compartment() });
  const told = useRef<string[]>([]); // typed values that have not come back as `value` yet
  const tell = useEffectEvent((text: string) => {
    if (text === (told.current.at(-1) ?? value)) return;
    told.current.push(text);
    props.onChange(text);
  });
  const run = useEffectEvent((text: string) => props.onRun?.(text));
  const runIt = ({ state }: EditorView) => {
    run(state.doc.toString());
    return true;
  };
  const create = useEffectEvent((parent: HTMLElement) => {
    const { language: languagePart, attributes } = parts.current;
    return new EditorView({
      parent,
      state: EditorState.create({
        doc: props.value,
        extensions: [
          Prec.highest(keymap.of([{ key: 'Mod-Enter', run: runIt }])),
          lineNumbers(),
          history(),
          drawSelection(),
          indentOnInput(),
          bracketMatching(),
          closeBrackets(),
          autocompletion(),
          keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, ...completionKeymap]),
          syntaxHighlighting(colours),
          looks,
          EditorView.lineWrapping,
          ...(props.placeholder === undefined ? [] : [placeholderText(props.placeholder)]),
          languagePart.of(languageOf(props)),
          attributes.of(attributesOf(props)),
          EditorView.updateListener.of(update => {
            if (update.docChanged) tell(update.state.doc.toString());
          }),
        ],
      }),
    });
  });
  useEffect(() => {
    const made = create(box.current!);
    editor.current = made;
    return () => made.destroy();
  }, []);
  // Only values that were not typed here: an example, or another item to edit. A value that comes back may be older
  // than the text typed since.
  useEffect(() => {
    const view = editor.current;
    const own = told.current.lastIndexOf(value);
    told.current = own < 0 ? [] : told.current.slice(own + 1);
    if (own >= 0 || !view || view.state.doc.toString() === value) return;
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: value } });
  }, [value]);
  const change = useEffectEvent((part: 'language' | 'attributes') =>
    editor.current?.dispatch({
      effects: parts.current[part].reconfigure(part === 'language' ? languageOf(props) : attributesOf(props)),
    }),
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: what the language completes
  useEffect(() => change('language'), [language, tables, sample]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what a screen reader says
  useEffect(() => change('attributes'), [label, isInvalid, describedBy]);
  return (
    <div
      ref={box}
      className="stak-editor"
      data-invalid={isInvalid || undefined}
      style={{ '--stak-editor-rows': minRows } as React.CSSProperties}
    />
  );
}
