import { Marked } from 'marked';
import { useMemo } from 'react';

const escapeHtml = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

// Design documents quote names and values of foreign databases, and agents write them: no HTML passes, no image loads,
// and a link is one only when it leads to the web.
const marked = new Marked({
  gfm: true,
  renderer: {
    html: ({ text }) => escapeHtml(text),
    image: ({ text }) => escapeHtml(text),
    link({ href, tokens }) {
      const label = this.parser.parseInline(tokens);
      return /^https?:\/\//i.test(href) ? `<a href="${escapeHtml(href)}" rel="noopener noreferrer nofollow" target="_blank">${label}</a>` : label;
    },
  },
});

export function Markdown({ text }: { readonly text: string }) {
  const html = useMemo(() => marked.parse(text, { async: false }), [text]);
  return <div className="prose-doc" dangerouslySetInnerHTML={{ __html: html }} />;
}
