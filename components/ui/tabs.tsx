'use client';
import { Tabs as Radix } from 'radix-ui';
import type { ReactNode } from 'react';

export interface Tab {
  readonly id: string;
  readonly label: ReactNode;
  readonly content: ReactNode;
}

export function Tabs({
  tabs,
  label,
  value,
  onChange,
}: {
  readonly tabs: readonly Tab[];
  readonly label: string;
  readonly value?: string;
  readonly onChange?: (id: string) => void;
}) {
  // Long content scrolls below them: the other tabs stay within reach.
  return (
    <Radix.Root
      {...(value !== undefined ? { value } : { defaultValue: tabs[0]?.id ?? '' })}
      {...(onChange ? { onValueChange: onChange } : {})}
    >
      <Radix.List
        aria-label={label}
        className="sticky top-11 z-10 flex flex-wrap gap-x-1 rounded-t-lg border-b border-line bg-surface px-2"
      >
        {tabs.map((tab) => (
          <Radix.Trigger
            key={tab.id}
            value={tab.id}
            className="-mb-px border-b-2 border-transparent px-2 py-2 text-[13px] whitespace-nowrap font-medium text-muted hover:text-text data-[state=active]:border-accent data-[state=active]:text-text"
          >
            {tab.label}
          </Radix.Trigger>
        ))}
      </Radix.List>
      {tabs.map((tab) => (
        <Radix.Content key={tab.id} value={tab.id} className="p-3">
          {tab.content}
        </Radix.Content>
      ))}
    </Radix.Root>
  );
}
