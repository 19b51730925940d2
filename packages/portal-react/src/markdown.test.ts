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

  // The parser takes the square of their length, or memory without end.
  it.each(['_a_', '**a** ', '`a` ', '[a](https://b.example) ', '[', '![a]['])(
    'is shown as it is where a paragraph of %j is very long',
    part => {
      const text = part.repeat(Math.floor(2000 / part.length) + 1);
      expect(render(text)).not.toMatch(/<(?:em|strong|code|a)[ >]/);
      expect(render(`${text}\n\n*short*`)).toContain('<em>short</em>');
    },
  );

  it.each([
    ['>', 'blockquote'],
    ['1. ', 'ol'],
  ])('has blocks in blocks to a depth that can be shown: %j', (part, element) => {
    const html = render(part.repeat(30_000));
    expect(html.split(`<${element}`).length - 1).toBe(20);
    expect(html.length).toBeGreaterThan(30_000);
  });

  it('has no table of millions of cells', () => {
    const rows = `${'|a'.repeat(200)}\n${'|-'.repeat(200)}\n${'|\n'.repeat(45_000)}`;
    expect(render(rows)).not.toContain('<td>');
  });
});
