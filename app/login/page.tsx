import type { Metadata } from 'next';
import { Suspense } from 'react';
import { LoginForm } from '../../components/session/login-form';

export const metadata: Metadata = { title: 'Sign in' };

export default function LoginPage() {
  return (
    <main className="flex min-h-screen items-center justify-center p-4">
      <div className="w-full max-w-sm space-y-4 rounded-lg border border-line bg-surface p-6">
        <div className="flex items-center gap-3">
          <img src="/icon.svg" alt="" className="size-8" />
          <h1 className="text-lg font-semibold">AptMQL Studio</h1>
        </div>
        <Suspense>
          <LoginForm />
        </Suspense>
      </div>
    </main>
  );
}
