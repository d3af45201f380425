import { Marked } from 'marked';
import { useMemo } from 'react';

const escapeHtml = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');

/**
 * The id of a heading, by its words without a leading number; prefixed, since text of agents must
 * not name elements freely.
 */
export const sectionId = (heading: string): string =>
  `section-${heading
    .replace(/^[\d. ]+/, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')}`;

// Design documents quote names and values of foreign databases, and agents write them: no HTML
// passes, no image loads, and a link is one only when it leads to the web.
const marked = new Marked({
  gfm: true,
  renderer: {
    html: ({ text }) => escapeHtml(text),
    text(token) {
      const html =
        'tokens' in token && token.tokens
          ? this.parser.parseInline(token.tokens)
          : escapeHtml(token.text).replaceAll(/&amp;(?=\w+;|#\d+;|#x[\da-f]+;)/gi, '&');
      // A relationship's arrow does not break.
      return html.replaceAll('-&gt;', '<wbr><span class="whitespace-nowrap">-&gt;</span>');
    },
    image: ({ text }) => escapeHtml(text),
    heading({ tokens, depth, text }) {
      return `<h${depth} id="${sectionId(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
    },
    link({ href, tokens }) {
      const label = this.parser.parseInline(tokens);
      return /^https?:\/\//i.test(href)
        ? `<a href="${escapeHtml(href)}" rel="noopener noreferrer nofollow" ` +
            `target="_blank">${label}</a>`
        : label;
    },
  },
});

export const markdownHtml = (text: string): string => marked.parse(text, { async: false });

export function Markdown({ text }: { readonly text: string }) {
  const html = useMemo(() => markdownHtml(text), [text]);
  return <div className="prose-doc" dangerouslySetInnerHTML={{ __html: html }} />;
}
