import type { CAC, Command } from 'cac';
import { UsageError } from '../config/errors.ts';
import { actionsOf } from './action.ts';

// Shell completion, generated from the commands.

type Entry = { word: string; text: string };
type CommandEntry = Entry & { actions: Entry[]; options: (Entry & { takesValue: boolean })[] };

export function registerCompletion(cli: CAC): void {
  cli
    .command('completion <shell>', 'Print the completion script for bash, zsh or fish')
    .example('source <(stak completion bash)')
    .example('source <(stak completion zsh)')
    .example('stak completion fish > ~/.config/fish/completions/stak.fish')
    .action((shell: string) => {
      const write = Object.hasOwn(scripts, shell) ? scripts[shell] : undefined;
      if (!write)
        throw new UsageError(
          `stak completion knows ${Object.keys(scripts).join(', ')}, not ${JSON.stringify(shell)}`,
        );
      console.log(write(cli.commands.map(describe)));
    });
}

function describe(command: Command): CommandEntry {
  const actions = Object.entries(actionsOf(command) ?? {}).map(([word, text]) => ({ word, text }));
  if (command.name === 'completion')
    for (const word of Object.keys(scripts)) actions.push({ word, text: `For ${word}` });
  const options = command.options.map(({ rawName, description }) => ({
    word: /--[\w-]+/.exec(rawName)![0],
    text: description,
    takesValue: /[<[]/.test(rawName),
  }));
  return { word: command.name, text: command.description, actions, options };
}

const scripts: Readonly<Record<string, (commands: readonly CommandEntry[]) => string>> = {
  bash: commands => `_stak() {
  local word=\${COMP_WORDS[COMP_CWORD]} actions='' options=''
  COMPREPLY=()
  case "\${COMP_WORDS[1]}" in
${commands
  .map(
    ({ word, actions, options }) => `    ${word}) actions='${words(actions)}'; options='${words(options)}';;`,
  )
  .join('\n')}
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then COMPREPLY=($(compgen -W '${words(commands)} --help --version' -- "$word"))
  elif [[ $word == -* ]]; then COMPREPLY=($(compgen -W "$options --help" -- "$word"))
  elif [ "$COMP_CWORD" -eq 2 ]; then COMPREPLY=($(compgen -W "$actions" -- "$word"))
  fi
}
complete -o default -F _stak stak`,

  zsh: commands => `#compdef stak
_stak() {
  local -a commands actions options
  commands=(${described(commands)})
  case $words[2] in
${commands
  .map(
    ({ word, actions, options }) =>
      `    ${word}) actions=(${described(actions)}); options=(${described(options)});;`,
  )
  .join('\n')}
  esac
  if (( CURRENT == 2 )); then _describe command commands
  elif [[ $words[CURRENT] == -* ]]; then _describe option options
  elif (( CURRENT == 3 && $#actions )); then _describe action actions
  else _files
  fi
}
compdef _stak stak`,

  fish: commands =>
    [
      'complete -c stak -n __fish_use_subcommand -f',
      ...commands.flatMap(({ word, text, actions, options }) => [
        `complete -c stak -n __fish_use_subcommand -f -a ${word} -d ${quoted(text)}`,
        ...actions.map(
          one =>
            `complete -c stak -n '__fish_seen_subcommand_from ${word}; and not __fish_seen_subcommand_from ${words(actions)}' -f -a ${one.word} -d ${quoted(one.text)}`,
        ),
        ...options.map(
          one =>
            `complete -c stak -n '__fish_seen_subcommand_from ${word}' -l ${one.word.slice(2)}${one.takesValue ? ' -r' : ''} -d ${quoted(one.text)}`,
        ),
      ]),
    ].join('\n'),
};

const words = (entries: readonly Entry[]): string => entries.map(({ word }) => word).join(' ');
const described = (entries: readonly Entry[]): string =>
  entries.map(({ word, text }) => quoted(`${word}:${text}`)).join(' ');
// Inside single quotes nothing is special, in any of the three shells.
const quoted = (text: string): string => `'${text.replaceAll("'", '’')}'`;
