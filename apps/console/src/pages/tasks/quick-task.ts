// One line becomes a task: "Call Ann tomorrow !high #sales @phone every week".
export type QuickTask = {
  title: string;
  priority?: 'low' | 'medium' | 'high' | 'urgent';
  category?: string;
  labels?: string[];
  due_date?: string;
  recurrence?: string;
};

const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const frequencies: Readonly<Record<string, string>> = {
  day: 'DAILY',
  week: 'WEEKLY',
  month: 'MONTHLY',
  year: 'YEARLY',
};

// The day on the calendar of whoever looks.
export function localDay(date: Date): string {
  const two = (value: number) => String(value).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

export function parseQuickTask(text: string, now = new Date()): QuickTask {
  const after = (days: number) => localDay(new Date(now.getFullYear(), now.getMonth(), now.getDate() + days));
  const labels: string[] = [];
  const found: Omit<QuickTask, 'title' | 'labels'> = {};
  let rest = ` ${text} `;
  const take = (pattern: RegExp, use: (match: RegExpExecArray) => void) => {
    for (let match = pattern.exec(rest); match; match = pattern.exec(rest)) {
      use(match);
      rest = `${rest.slice(0, match.index)} ${rest.slice(match.index + match[0].length)}`;
    }
  };
  take(/ !(low|medium|high|urgent)(?= )/i, ([, word]) => {
    found.priority = word!.toLowerCase() as QuickTask['priority'];
  });
  take(/ #([^\s#@!]+)(?= )/, ([, word]) => {
    found.category = word!;
  });
  take(/ @([^\s#@!]+)(?= )/, ([, word]) => labels.push(word!));
  take(/ every (day|week|month|year)(?= )/i, ([, word]) => {
    found.recurrence = `FREQ=${frequencies[word!.toLowerCase()]}`;
    found.due_date ??= after(0); // what comes again has to begin somewhere
  });
  take(/ (?:on |due )?(\d{4}-\d{2}-\d{2})(?= )/i, ([, day]) => {
    found.due_date = day!;
  });
  take(/ (?:due )?(today|tomorrow)(?= )/i, ([, word]) => {
    found.due_date = after(word!.toLowerCase() === 'today' ? 0 : 1);
  });
  take(/ in (\d{1,3}) (day|week)s?(?= )/i, ([, count, unit]) => {
    found.due_date = after(Number(count) * (unit!.toLowerCase() === 'week' ? 7 : 1));
  });
  take(new RegExp(` (?:on |due )(${weekdays.join('|')})(?= )`, 'i'), ([, day]) => {
    const ahead = (weekdays.indexOf(day!.toLowerCase()) - now.getDay() + 7) % 7;
    found.due_date = after(ahead === 0 ? 7 : ahead);
  });
  const title = rest.replaceAll(/\s+/g, ' ').trim();
  return { title, ...found, ...(labels.length > 0 && { labels }) };
}
