import type { Metadata } from 'next';
import { cookies } from 'next/headers';
import type { ReactNode } from 'react';
import { Providers } from '../components/shell/providers';
import './globals.css';

export const metadata: Metadata = {
  title: { default: 'AptMQL Studio', template: '%s · AptMQL Studio' },
  description: 'From text-to-SQL to text-to-MQL benchmarks that people can trust.',
};

export default async function RootLayout({ children }: { readonly children: ReactNode }) {
  const theme = (await cookies()).get('theme')?.value;
  return (
    <html lang="en" {...(theme === 'light' || theme === 'dark' ? { 'data-theme': theme } : {})}>
      <body className="font-sans">
        <Providers>{children}</Providers>
      </body>
    </html>
  );
}
