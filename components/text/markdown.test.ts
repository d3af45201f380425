import { expect, test } from 'vitest';
import { markdownHtml } from './markdown';

test('no markup of others passes', () => {
  const html = markdownHtml(
    'a <script>alert(1)</script> [x](javascript:alert(1)) ![y](z) "q" &amp; &lt;b&gt; A & B',
  );
  expect(html).not.toMatch(/<script|<img|<b>|javascript:|href/);
  expect(html).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
  expect(html).toContain('&amp; &lt;b&gt; A &amp; B');
});

test('the arrow of a relationship stays in one piece, in text only', () => {
  expect(markdownHtml('line\\(a\\)-&gt;order\\(b\\)')).toBe(
    '<p>line(a)<wbr><span class="whitespace-nowrap">-&gt;</span>order(b)</p>\n',
  );
  expect(markdownHtml('[a->b](https://example.org/-%3E "-&gt;")')).toContain(
    'href="https://example.org/-%3E"',
  );
});
