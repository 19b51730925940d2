import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, it } from 'vitest';
import { Markdown } from './markdown.tsx';

const render = (text: string) => {
  const html = renderToStaticMarkup(createElement(Markdown, { text }));
  return html.replace(/^<div class="stak-markdown">(.*)<\/div>$/s, '$1');
};

describe('an answer in Markdown', () => {
  it('is shown as it is meant', () => {
    expect(render('**Two** are `late`:\n\n1. Call *Ann*\n2. [Pay](https://pay.example)')).toBe(
      '<p><strong>Two</strong> are <code>late</code>:</p><ol start="1"><li>Call <em>Ann</em></li>' +
        '<li><a href="https://pay.example" target="_blank" rel="noopener noreferrer">Pay</a></li></ol>',
    );
    expect(render('| a |\n|---|\n| b |')).toBe(
      '<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>b</td></tr></tbody></table>',
    );
    expect(render('```\nx < 1\n```')).toBe('<pre tabindex="0"><code>x &lt; 1</code></pre>');
    expect(render('plain & simple')).toBe('<p>plain &amp; simple</p>');
  });

  it('runs and loads nothing', () => {
    const html = render(
      '<script>alert(1)</script>\n\n![a picture](https://evil.example/pixel.png) <img src=x onerror=y> [go](javascript:alert(1))',
    );
    expect(html).not.toMatch(/<(?:script|img)|href="javascript/);
    expect(html).toContain('a picture');
  });

  it('can be half written', () => {
    expect(render('**Two')).toBe('<p>**Two</p>');
    expect(render('```ts\nconst a')).toBe('<pre tabindex="0"><code>const a</code></pre>');
  });

  it.each([
    ['quotes in quotes', '>'],
    ['lists in lists', '1. '],
    ['words side by side', '_a_'],
    ['links that do not end', '['],
    ['links in links', '[a]('],
    ['emphasis that does not end', '**a *b '],
    ['code that does not end', '`a``b```'],
  ])('is shown soon if it is made of %s', (_, part) => {
    const before = process.cpuUsage().user;
    expect(render(part.repeat(90_000 / part.length)).length).toBeGreaterThan(1000);
    expect(process.cpuUsage().user - before).toBeLessThan(5_000_000);
  });

  it('is shown without a table of millions of cells', () => {
    const rows = `${'|a'.repeat(200)}\n${'|-'.repeat(200)}\n${'|\n'.repeat(45_000)}`;
    expect(render(rows)).not.toContain('<td>');
  });
});
