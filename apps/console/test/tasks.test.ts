import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { openBrowserAndServer } from './browser-and-server.ts';
import { drag, hear, pickUp } from './drag-and-drop.ts';
import { openSignedInPage, type PageOptions, type SignedInPage } from './signed-in-page.ts';
import { expectUsable, findBarriers, follow } from './usability.ts';

const { browser, server } = await openBrowserAndServer();
const slowly = { timeout: 180_000 }; // a browser beside everything else that is tested takes its time

const views = { board: 'New task', list: 'New task', calendar: 'New task on this day' };

async function enter(view: keyof typeof views, options: PageOptions = {}): Promise<SignedInPage> {
  const viewport = { width: 1280, height: 800 };
  const path = `/console/tasks?view=${view}`;
  const signedIn = await openSignedInPage(browser!, server.url, { viewport, path, ...options });
  await signedIn.page.getByRole('textbox', { name: views[view], exact: true }).waitFor();
  return signedIn;
}

async function addTasks(page: Page, ...lines: string[]): Promise<void> {
  for (const line of lines) {
    const made = page.waitForResponse(
      one => one.request().method() === 'POST' && one.url().endsWith('/v1/tasks'),
    );
    await page.getByRole('textbox', { name: 'New task', exact: true }).fill(line);
    await page.keyboard.press('Enter');
    await made;
  }
}

const column = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
const card = (within: Page | Locator, title: string) =>
  within.getByRole('button', { name: title, exact: true });
const titlesIn = (page: Page, name: string) =>
  column(page, name)
    .getByRole('button', { name: /^(?!Move )/ })
    .allInnerTexts();

describe.skipIf(!browser)(browser ? 'tasks' : 'tasks (needs a browser)', slowly, () => {
  it('are added from one line, moved with the keyboard, saved, and updated in other windows', async () => {
    const { page, failures } = await enter('board');
    const other = await page.context().newPage();
    const stream = other.waitForResponse(response => response.url().endsWith('/v1/tasks/events'));
    await other.goto(page.url());
    await stream;
    await page
      .getByRole('textbox', { name: 'New task', exact: true })
      .fill('Call Ann every friday at 5pm !high');
    await page.getByText(/every Friday/).waitFor();
    await addTasks(page, 'Call Ann tomorrow !high #sales');
    await card(column(page, 'To do'), 'Call Ann').waitFor();
    await card(column(other, 'To do'), 'Call Ann').waitFor();

    await pickUp(page, page.getByRole('button', { name: 'Move Call Ann' }), 'Over To do, place 1 of 1');
    await page.keyboard.press('ArrowRight');
    await hear(page, 'Over In progress, place 1 of 1');
    await page.keyboard.press('Space');
    await card(column(page, 'In progress'), 'Call Ann').waitFor();
    await card(column(other, 'In progress'), 'Call Ann').waitFor();
    await page.reload();
    await card(column(page, 'In progress'), 'Call Ann').waitFor();

    await page.getByRole('textbox', { name: 'Filter' }).fill('priority:hi');
    await page.getByText('must be one of low, medium, high, urgent').waitFor();
    await page.getByRole('textbox', { name: 'Filter' }).fill('priority:low');
    await page.getByText('No task matches').waitFor();
    await page.reload();
    await page.getByText('No task matches').waitFor();
    await expect.poll(() => page.getByRole('textbox', { name: 'Filter' }).inputValue()).toBe('priority:low');
    await page.getByRole('button', { name: 'Add to the filter' }).click();
    await page.getByRole('menuitemcheckbox', { name: 'Open' }).click();
    await expect
      .poll(() => page.getByRole('textbox', { name: 'Filter' }).inputValue())
      .toBe('priority:low is:open');
    await page.getByRole('menuitemcheckbox', { name: 'Open', checked: true }).click();
    await expect.poll(() => page.getByRole('textbox', { name: 'Filter' }).inputValue()).toBe('priority:low');
    await page.keyboard.press('Escape');
    expect(failures).toEqual([]);
  });

  it('are reordered within and between columns, with mouse and keyboard', async () => {
    const { page, failures } = await enter('board');
    await addTasks(page, 'One', 'Two', 'Three');
    const toDo = () => titlesIn(page, 'To do');
    await expect.poll(toDo).toEqual(['One', 'Two', 'Three']);

    const moved = page.waitForResponse(one => one.url().endsWith('/position'));
    await drag(page, card(page, 'Three'), [card(page, 'One'), 10, -4], 'Over To do, place 1 of 3');
    await expect.poll(toDo).toEqual(['Three', 'One', 'Two']);
    await moved;
    await page.reload();
    await expect.poll(toDo).toEqual(['Three', 'One', 'Two']);

    await pickUp(page, page.getByRole('button', { name: 'Move Three' }), 'Over To do, place 1 of 3');
    await page.keyboard.press('ArrowDown');
    await hear(page, 'Over To do, place 2 of 3');
    await page.keyboard.press('Space');
    await expect.poll(toDo).toEqual(['One', 'Three', 'Two']);

    await drag(page, card(page, 'One'), [column(page, 'Done'), 40, 60], 'Over Done, place 1 of 1');
    await card(column(page, 'Done'), 'One').waitFor();
    const placed = page.waitForResponse(one => one.url().endsWith('/position'));
    await drag(page, card(page, 'Two'), [card(page, 'One'), 10, -4], 'Over Done, place 1 of 2');
    await placed;
    await page.reload();
    await expect.poll(() => titlesIn(page, 'Done')).toEqual(['Two', 'One']);
    await expect.poll(toDo).toEqual(['Three']);
    expect(failures).toEqual([]);
  });

  it('have a calendar in the user’s time zone, and move to other days with keyboard and mouse', async () => {
    // As far from UTC as possible, so that the day usually differs.
    const zone = 'Pacific/Kiritimati';
    const { page, failures } = await enter('calendar', { timezoneId: zone, locale: 'en-GB' });
    const today = new Intl.DateTimeFormat('en-GB', { timeZone: zone, day: 'numeric' }).format(new Date());
    await page.getByText(`Days in ${zone}.`).waitFor();
    await expect.poll(() => page.locator('[aria-current="date"]').innerText()).toBe(today);

    const dayOf = (title: string) =>
      page
        .locator('td', { has: card(page, title) })
        .getByRole('button')
        .first()
        .innerText();
    await page.getByRole('button', { name: 'Next month' }).click();
    await page.getByRole('textbox', { name: 'New task on this day' }).fill('Pay the rent !high');
    await page.keyboard.press('Enter');
    const chip = page.getByRole('table').getByRole('button', { name: 'Pay the rent', exact: true });
    await chip.waitFor();
    expect(await dayOf('Pay the rent')).toBe('1');

    await pickUp(page, chip, /^Over \w+,? 1 /);
    await page.keyboard.press('ArrowRight');
    await hear(page, /^Over \w+,? 2 /);
    await page.keyboard.press('ArrowDown');
    await hear(page, /^Over \w+,? 9 /);
    const saved = page.waitForResponse(one => one.request().method() === 'PATCH');
    await page.keyboard.press('Space');
    await saved;
    await expect.poll(() => dayOf('Pay the rent')).toBe('9');

    const days = page.getByRole('table').locator('td');
    const twelfth = days.filter({ has: page.getByRole('button', { name: /^\w+,? 12 / }) });
    const kept = page.waitForResponse(one => one.request().method() === 'PATCH');
    await drag(page, chip, [twelfth, 20, 50], /^Over \w+,? 12 /);
    await kept;
    await expect.poll(() => dayOf('Pay the rent')).toBe('12');

    // Arrow keys move from day to day, and the selected day has its own list.
    const inMonth = page.locator('td:not([data-outside])'); // the 5th of the month after it may be shown, too
    await inMonth.getByRole('button', { name: /^\w+,? 5 / }).click();
    await page.keyboard.press('ArrowDown');
    await page.getByRole('checkbox', { name: 'Pay the rent is done' }).click();
    await page.getByRole('button', { name: 'Pay the rent, done' }).waitFor();
    await page.getByRole('button', { name: 'Pay the rent, done' }).press('Enter');
    await page.getByRole('dialog').getByRole('textbox', { name: 'Title' }).waitFor();
    expect(failures).toEqual([]);
  });

  it('are counted in full, load as a column is scrolled, and are never all in the page', async () => {
    const { page, client, failures } = await openSignedInPage(browser!, server.url);
    const titles = Array.from({ length: 130 }, (_, index) => `Task ${index}`);
    await Promise.all(titles.map(title => client.tasks.create({ body: { title } })));
    await page.goto(`${server.url}/console/tasks`);
    await expect.poll(() => page.getByTestId('count-pending').innerText()).toBe('130');
    const cards = page.getByRole('button', { name: /^Move Task/ });
    expect(await cards.count()).toBeLessThan(40);
    const last = column(page, 'To do').locator(`[data-index="${titles.length - 1}"]`);
    await expect
      .poll(async () => {
        await page.evaluate("document.querySelector('.stak-column-cards').scrollTop = 1e9");
        return last.count();
      })
      .toBe(1);
    expect(await cards.count()).toBeLessThan(40);
    await follow(page, '/console/tasks?view=list');
    await page.getByRole('list', { name: 'Tasks' }).waitFor();
    expect(await page.getByRole('listitem').count()).toBeLessThan(60);
    expect(failures).toEqual([]);
  });

  it('are edited in a form that overwrites nobody else’s change', async () => {
    const { page } = await enter('board');
    await addTasks(page, 'Call Ann');
    const other = await page.context().newPage();
    await other.goto(page.url());
    for (const window of [page, other]) await card(window, 'Call Ann').click();
    const title = (window: Page) => window.getByRole('dialog').getByRole('textbox', { name: 'Title' });
    const save = (window: Page) => window.getByRole('button', { name: 'Save' }).click();
    await title(other).waitFor();
    await title(page).fill('Call Ann at five');
    await save(page);
    await card(column(page, 'To do'), 'Call Ann at five').waitFor();
    await title(other).fill('Call Bob');
    await save(other);
    await other.getByRole('alert').getByText('It was changed since you read it').waitFor();
  });

  it('have labels, a recurrence in words, a reminder and subtasks, and a URL', async () => {
    const { page, client, failures } = await enter('board', { timezoneId: 'Asia/Tokyo' });
    const { data: made } = await client.tasks.create({ body: { title: 'Water plants' } });
    await page.goto(`${server.url}/console/tasks?task=${made.task_id}`);
    const dialog = page.getByRole('dialog');
    const field = (name: string) => dialog.getByLabel(name, { exact: true }).first();
    await field('Labels').fill('home');
    await field('Repeats').fill('sometimes');
    await field('Description').click();
    // However long the form is, its buttons are visible.
    await expect
      .poll(() =>
        page.evaluate("document.querySelector('.stak-foot').getBoundingClientRect().bottom - innerHeight"),
      )
      .toBeLessThan(0);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('Write “every monday”').waitFor();
    await field('Repeats').fill('every 2 weeks on monday and friday');
    await field('Description').click();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('A recurring task needs a due date').first().waitFor();
    await field('Due').fill('2030-01-07');
    await field('Reminder').click();
    await page.getByRole('option', { name: '1 day before' }).click();
    await dialog.getByLabel('At, in Asia/Tokyo').fill('18:30');
    // A subtask is added at once and does not block saving the fields.
    await field('New subtask').fill('Fill the can');
    await page.keyboard.press('Enter');
    await dialog.getByRole('checkbox', { name: 'Fill the can is done' }).click();
    await dialog.getByText('1 of 1 done').waitFor();
    await expectUsable(page, 'a task');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    const { data: saved } = await client.tasks.get({ task_id: made.task_id });
    expect(saved).toMatchObject({
      labels: ['home'],
      due_date: '2030-01-07',
      recurrence: 'FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,FR',
      reminder: { days_before: 1, time: '18:30' },
    });

    await page.goto(`${server.url}/console/tasks?task=${made.task_id}`);
    await expect.poll(() => field('Repeats').inputValue()).toBe('every 2 weeks on Monday and Friday');
    await dialog.getByRole('button', { name: 'Fill the can', exact: true }).click();
    await dialog.getByText('Part of').waitFor();
    await dialog.getByRole('button', { name: 'Water plants', exact: true }).click();
    await dialog.getByRole('region', { name: 'Subtasks' }).waitFor();
    expect(failures).toEqual([]);
  });

  it('are restored by undo: from the trash, from done, and to their old position', async () => {
    const { page, failures } = await enter('board');
    await addTasks(page, 'One', 'Two', 'Three');
    const toDo = () => titlesIn(page, 'To do');
    await expect.poll(toDo).toEqual(['One', 'Two', 'Three']);
    const undo = page.getByRole('button', { name: 'Undo' });
    await drag(page, card(page, 'Two'), [column(page, 'Done'), 40, 60], 'Over Done, place 1 of 1');
    await page.getByText('Two is done.').waitFor();
    await undo.click();
    await expect.poll(toDo).toEqual(['One', 'Two', 'Three']);
    await follow(page, '/console/tasks?view=list');
    await page.getByRole('button', { name: 'Delete One' }).click();
    await page.getByText('One is in the trash.').waitFor();
    await undo.click();
    await page.getByRole('checkbox', { name: 'One is done' }).click();
    await page.getByText('One is done.').waitFor();
    await expectUsable(page, 'what can be undone');
    await undo.click();
    await expect.poll(() => page.getByRole('checkbox', { name: 'One is done' }).isChecked()).toBe(false);
    expect(failures).toEqual([]);
  });

  it('are analysed in the lake: insights, and SQL with helpful errors', async () => {
    const { page, failures } = await enter('list');
    await addTasks(page, 'Call Ann !high #sales', 'Write the report #office');
    await page.getByRole('checkbox', { name: 'Call Ann is done' }).click();
    await follow(page, '/console/data/insights');
    await page.getByRole('img', { name: /2 created, 1 completed/ }).waitFor();
    await page.getByText(/^As of /).waitFor();

    await page.getByRole('link', { name: 'SQL' }).click();
    const box = page.getByRole('textbox', { name: 'SQL' });
    await box.fill("select category, count(*) as number from tasks where status = 'completed' group by 1");
    await box.press('Control+Enter');
    const result = page.getByRole('table', { name: 'Result' });
    await result.getByRole('cell', { name: 'sales' }).waitFor();
    await page.getByText('1 row in').waitFor();
    await page.reload(); // the query is in the address
    await page.getByText("where status = 'completed'").waitFor();
    await box.fill('select category, count(*) as number from tasks group by 1');
    await box.press('Control+Enter');
    await page.getByText('Chart', { exact: true }).click();
    await page.getByRole('img', { name: /number by category.*sales: 1/ }).waitFor();
    await page.getByRole('button', { name: 'Saved queries' }).click();
    await page.getByRole('menuitem', { name: 'Save this query…' }).click();
    await page.getByRole('textbox', { name: 'Name of the query' }).fill('By category');
    await page.keyboard.press('Enter');
    await box.fill('select * from tasks order by cat');
    await box.press('Control+Space');
    await page.getByRole('option', { name: /^category/ }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Saved queries' }).click();
    await page.getByRole('menuitem', { name: 'By category', exact: true }).click();
    await page.getByText('2 rows in').waitFor();
    expect(await findBarriers(page)).toEqual([]);

    await box.fill('select colour from tasks');
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByRole('alert').getByText('colour').first().waitFor();
    await page.getByRole('alert').getByText('their columns are listed here').waitFor();
    await box.fill('drop table tasks');
    await box.press('Control+Enter');
    await page.getByRole('alert').getByText('Only reading is possible').waitFor();
    await page.getByRole('button', { name: 'Overdue tasks' }).click();
    await page.getByText('The query returned no rows.').waitFor();
    await page.getByRole('button', { name: 'tenants', exact: true }).click();
    await page.getByRole('button', { name: 'Look at tenants' }).click();
    await page.getByText('0 rows in').waitFor();
    expect(failures).toEqual([]);
  });

  it('receive every character of a query, however quickly it is typed and run', async () => {
    const { page } = await enter('list');
    await follow(page, '/console/data/sql');
    const box = page.getByRole('textbox', { name: 'SQL' });
    await box.fill('');
    const asked = page.waitForRequest(one => one.url().endsWith('/v1/lake/query'));
    const word = 'abcdefghij'.repeat(20);
    // One letter per iteration of the event loop, faster than the page renders.
    await page.evaluate(`(async () => {
      const field = document.querySelector('.cm-content');
      const { view } = field.cmTile;
      const { port1, port2 } = new MessageChannel();
      const nextTurn = () => new Promise(done => {
        port1.onmessage = done;
        port2.postMessage(0);
      });
      const type = text => view.dispatch({ changes: { from: view.state.doc.length, insert: text } });
      for (const letter of "select '${word}'") {
        type(letter);
        await nextTurn();
      }
      type(' as word');
      field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', ctrlKey: true, bubbles: true }));
    })()`);
    expect((await asked).postDataJSON()).toEqual({ sql: `select '${word}' as word` });
  });

  it('explain what to do if there is no lake', async () => {
    const { page } = await enter('board');
    const problem = {
      status: 404,
      code: 'http.not_found',
      title: 'Not Found',
      detail: 'There is nothing here.',
    };
    await page.route(/\/v1\/(insights|lake)\//, route =>
      route.fulfill({ status: 404, contentType: 'application/problem+json', body: JSON.stringify(problem) }),
    );
    await page.getByRole('link', { name: 'Data' }).click();
    await page.getByText('This server keeps no lake').waitFor();
    await page.getByRole('link', { name: 'SQL' }).click();
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByText('STAK_LAKE').waitFor();
  });

  it('are accessible, in light and dark and on a phone', async () => {
    const { page, failures } = await enter('board', { colorScheme: 'light' });
    await addTasks(page, 'Call Ann 2020-01-01 !urgent #sales @phone', 'Pay the rent today !low');
    // Each view, and what is there when it is ready.
    const positions = {
      board: 'late: ',
      list: 'late: ',
      calendar: 'Pay the rent',
      insights: 'By priority',
      sql: 'They hold only your own rows',
      trash: 'The trash is empty',
    };
    for (const [view, text] of Object.entries(positions)) {
      await follow(page, `/console/tasks?view=${view}`);
      await page.getByText(text).first().waitFor();
      await expectUsable(page, view);
    }
    expect(failures).toEqual([]);
  });
});
