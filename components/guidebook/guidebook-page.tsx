'use client';
import { useEffect } from 'react';
import { Page } from '../shell/page';
import { Markdown, sectionId } from '../text/markdown';
import { Card } from '../ui/card';

/** The design guidebook as agents are given it, with its sections at the side. */
export function GuidebookPage({ text }: { readonly text: string }) {
  const [title = '', ...rest] = text.split('\n');
  const sections = text.split('\n').flatMap((line) => {
    const heading = /^(##+) (.+)$/.exec(line);
    return heading ? [{ depth: heading[1]!.length, label: heading[2]! }] : [];
  });
  // The text is rendered in the browser: what the address points to is there only now.
  useEffect(() => {
    document.getElementById(decodeURIComponent(window.location.hash.slice(1)))?.scrollIntoView();
  }, []);
  return (
    <Page title={title.replace(/^# /, '')}>
      <div className="grid gap-4 lg:grid-cols-[15rem_minmax(0,1fr)]">
        <nav aria-label="Sections" className="h-fit text-[13px] lg:sticky lg:top-14">
          <ul className="space-y-0.5">
            {sections.map(({ depth, label }) => (
              <li key={label} className={depth > 2 ? 'pl-4' : ''}>
                <a
                  href={`#${sectionId(label)}`}
                  className="text-muted hover:text-text hover:underline"
                >
                  {label}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <Card>
          <Markdown text={rest.join('\n')} />
        </Card>
      </div>
    </Page>
  );
}
