import Link from 'next/link';

export default function NotFound() {
  return (
    <main className="mx-auto max-w-xl space-y-2 p-8">
      <h1 className="text-lg font-semibold">There is no such page</h1>
      <p className="text-muted">The address is mistyped, or what it showed was deleted.</p>
      <Link className="text-accent underline" href="/">
        To the benchmarks
      </Link>
    </main>
  );
}
