'use client';
import {
  BarChart3,
  BookOpen,
  Download,
  FolderKanban,
  LogOut,
  MonitorCog,
  Moon,
  Sun,
  Users,
  ListChecks,
  Bot,
} from 'lucide-react';
import Link from 'next/link';
import { usePathname } from 'next/navigation';
import { useEffect, useState, type ReactNode } from 'react';
import type { Role } from '../../lib/auth/account-api';
import { api } from '../api';
import { useLiveEvents, useSession } from '../queries';
import { AccountDialog } from '../session/account-dialog';
import { DecisionSaver } from '../review/decision-saver';
import { RefusedDecisions } from '../review/save-state';
import { classes } from '../ui/classes';

interface Place {
  readonly href: string;
  readonly label: string;
  readonly icon: typeof Users;
  readonly roles: readonly Role[];
}

const places: readonly Place[] = [
  {
    href: '/',
    label: 'Benchmarks',
    icon: FolderKanban,
    roles: ['admin', 'lead', 'reviewer', 'consumer'],
  },
  { href: '/queue', label: 'Queue', icon: ListChecks, roles: ['admin', 'lead', 'reviewer'] },
  { href: '/overview', label: 'Overview', icon: BarChart3, roles: ['admin', 'lead'] },
  { href: '/runs', label: 'Agent runs', icon: Bot, roles: ['admin', 'lead'] },
  {
    href: '/downloads',
    label: 'Downloads',
    icon: Download,
    roles: ['admin', 'lead', 'reviewer', 'consumer'],
  },
  { href: '/guidebook', label: 'Guidebook', icon: BookOpen, roles: ['admin', 'lead', 'reviewer'] },
  { href: '/users', label: 'Users', icon: Users, roles: ['admin'] },
];

export function AppShell({ children }: { readonly children: ReactNode }) {
  const { data: user } = useSession();
  const path = usePathname();
  const [account, setAccount] = useState(false);
  useLiveEvents();
  const at = (href: string): boolean =>
    href === '/'
      ? path === '/' || path.startsWith('/benchmarks') || path.startsWith('/databases')
      : path.startsWith(href) || (href === '/queue' && path.startsWith('/tasks'));
  return (
    <div className="flex min-h-screen flex-col">
      <a
        href="#main"
        className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:bg-surface focus:p-2"
      >
        Skip to the content
      </a>
      <header className="sticky top-0 z-30 flex h-11 items-center gap-1 border-b border-line bg-surface px-3">
        <Link href="/" className="mr-3 flex items-center gap-2 font-semibold">
          <img src="/icon.svg" alt="" className="size-5" />
          AptMQL Studio
        </Link>
        <nav aria-label="Main" className="flex items-center gap-0.5">
          {places
            .filter((place) => user && place.roles.includes(user.role))
            .map(({ href, label, icon: Icon }) => (
              <Link
                key={href}
                href={href}
                aria-current={at(href) ? 'page' : undefined}
                className={classes(
                  'flex items-center gap-1.5 rounded-md px-2.5 py-1 text-[13px]',
                  at(href)
                    ? 'bg-accent-soft font-medium text-accent'
                    : 'text-muted hover:bg-surface-2 hover:text-text',
                )}
              >
                <Icon className="size-3.5" aria-hidden /> {label}
              </Link>
            ))}
        </nav>
        <div className="ml-auto flex items-center gap-1">
          <ThemeButton />
          {user ? (
            <>
              <button
                type="button"
                className="rounded-md px-2 py-1 text-[13px] text-muted hover:bg-surface-2 hover:text-text"
                title={user.email}
                onClick={() => setAccount(true)}
              >
                {user.name} · {user.role}
              </button>
              <AccountDialog user={user} open={account} onClose={() => setAccount(false)} />
              <button
                type="button"
                className="rounded-md p-1.5 text-muted hover:bg-surface-2 hover:text-text"
                aria-label="Sign out"
                title="Sign out"
                onClick={() =>
                  void api('/api/session', { method: 'DELETE' }).finally(() =>
                    window.location.assign('/login'),
                  )
                }
              >
                <LogOut className="size-4" />
              </button>
            </>
          ) : null}
        </div>
      </header>
      <DecisionSaver>
        <main id="main" className="flex-1">
          <RefusedDecisions />
          {children}
        </main>
      </DecisionSaver>
    </div>
  );
}

type Theme = 'system' | 'light' | 'dark';
const nextTheme: Record<Theme, Theme> = { system: 'light', light: 'dark', dark: 'system' };

function ThemeButton() {
  const [theme, setTheme] = useState<Theme>('system');
  useEffect(() => {
    const now = document.documentElement.dataset.theme;
    setTheme(now === 'light' || now === 'dark' ? now : 'system');
  }, []);
  const change = (): void => {
    const next = nextTheme[theme];
    setTheme(next);
    // The server reads the cookie and renders the right colours at once, without an inline script.
    document.cookie = `theme=${next}; path=/; max-age=31536000; samesite=lax`;
    if (next === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = next;
    window.dispatchEvent(new Event('themechange'));
  };
  const Icon = { system: MonitorCog, light: Sun, dark: Moon }[theme];
  return (
    <button
      type="button"
      onClick={change}
      className="rounded-md p-1.5 text-muted hover:bg-surface-2 hover:text-text"
      aria-label={`Theme: ${theme}. Change`}
      title={`Theme: ${theme}`}
    >
      <Icon className="size-4" />
    </button>
  );
}
