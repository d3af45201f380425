import { BenchmarksPage } from '../../components/benchmarks/benchmarks-page';
import { requireUser } from '../require-user';

export default async function Home() {
  await requireUser();
  return <BenchmarksPage />;
}
