import type { Metadata } from 'next';
import { BenchmarkPage } from '../../../../components/benchmarks/benchmark-page';
import { requireUser } from '../../../require-user';

export const metadata: Metadata = { title: 'Benchmark' };

export default async function Benchmark({
  params,
}: {
  readonly params: Promise<{ readonly id: string }>;
}) {
  await requireUser();
  return <BenchmarkPage id={(await params).id} />;
}
